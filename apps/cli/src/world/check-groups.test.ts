import { describe, expect, it } from 'vitest';
import { checkGroups } from './check-groups.js';
import type { EventDefinition, SchemaDefinition } from './definitions.js';

const schema = (name: string, bytes = 0): SchemaDefinition => ({
  name,
  attributes: [{ name: 'text', type: 'string', defaultValue: 'x'.repeat(bytes) }],
});
const outline = (name: string) => ({ name, attributes: [{ name: 'text', type: 'string' }] });
const large = ['a', 'b', 'c', 'd', 'e'].map((name) => schema(name, 250_000));
const bytesOf = (body: object) => Buffer.byteLength(JSON.stringify(body));

describe('what is checked in one request', () => {
  it('is all where it is little', () => {
    const horse = schema('horse');
    const race: EventDefinition = { name: 'race', stateChanges: { horse: 'partial' } };
    expect(checkGroups([horse], [race, { name: 'idea' }], [horse])).toEqual([
      { entitySchemas: [horse], events: [race, { name: 'idea' }] },
    ]);
    expect(checkGroups([], [], [horse])).toEqual([]);
  });

  it('is no more than a body may have', () => {
    const groups = checkGroups(large, [], large);
    expect(groups.map(({ entitySchemas }) => entitySchemas.length)).toEqual([1, 1, 1, 1, 1]);
    const many = Array.from({ length: 1200 }, (_, at) => ({ name: `e${at}` }));
    expect(checkGroups([], many, []).map(({ events }) => events.length)).toEqual([500, 500, 200]);
  });

  it('is an event with the schemas that it names, and the bare names of the others', () => {
    const template = { stateChanges: { 'b:1': { text: 'a:' } }, 'c:1': {}, d: {} };
    const byKey: EventDefinition = { name: 'x', mutationSettings: { template } };
    const byRead: EventDefinition = { name: 'y', readEntities: [{ schema: 'd' }] };
    const groups = checkGroups([], [byKey, byRead], large);
    expect(groups.map(({ events }) => events)).toEqual([[byKey], [byRead]]);
    const whole = groups.map(({ entitySchemas }) => entitySchemas.filter((one) => 'attributes' in one));
    expect(whole).toEqual([[large[1], large[2]], [large[3]]]);
    expect(groups[1]?.entitySchemas.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('names schemas in whatever form of Unicode an event has them', () => {
    const fee = schema('Fée');
    const template = { ['Fée:1'.normalize('NFD')]: { text: '' } };
    const [group] = checkGroups([], [{ name: 'e', mutationSettings: { template } }], [fee]);
    expect(group?.entitySchemas).toEqual([fee]);
  });

  it('is attributes by name and type alone where the schemas of one event are too much', () => {
    const event: EventDefinition = {
      name: 'all',
      stateChanges: Object.fromEntries(large.map(({ name }) => [name, 'partial'])),
    };
    const [group] = checkGroups([], [event], large);
    expect(group?.entitySchemas).toEqual(large.map(({ name }) => outline(name)));
    expect(bytesOf(group ?? {})).toBeLessThan(2 ** 20);
  });
});
