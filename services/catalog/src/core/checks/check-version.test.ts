import type { VersionBody } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { EMPTY_VERSION } from '../definitions/stored-version.js';
import { checkVersion, writeVersion } from './check-version.js';
import { attributesGuarded, schemasWithPointers } from './names-in-version.js';

const NOW = Date.UTC(2026, 0, 1);
const wins = { name: 'wins', type: 'integer' as const, constraints: null, defaultValue: null };
const around = { named: [{ name: 'horse', definition: [wins] }], known: ['horse'], events: [] };
const body: VersionBody = {
  readEntities: [{ schema: 'horse' }],
  stateChanges: { horse: 'partial' },
  mutationSettings: { template: { 'horse:H1': { wins: 1 } } },
  guards: { maxDelta: { wins: 1 }, deny: ['name'] },
};
const write = (sent: VersionBody) => writeVersion(EMPTY_VERSION, sent, 10_000, '');
const check = (sent: VersionBody) => checkVersion(write(sent), around, NOW);
const problemsOf = (sent: VersionBody) => check(sent).kinds.flatMap(({ problems }) => problems);

describe('writeVersion', () => {
  it('merges a body and keeps its spelling of the map', () => {
    expect(write(body)).toMatchObject({
      definition: { stateChanges: { horse: 'partial' } },
      spelling: 'stateChanges',
    });
    expect(write({ stateChangeSchema: {} }).spelling).toBe('stateChangeSchema');
  });

  it('refuses what is too large', () => {
    const code = {
      code: 'validation_failed',
      errors: [expect.objectContaining({ pointer: '/firstVersion' })],
    };
    expect(() => writeVersion(EMPTY_VERSION, body, 100, '/firstVersion')).toThrow(
      expect.objectContaining(code),
    );
  });
});

describe('checkVersion', () => {
  it('finds nothing in a version that runs', () => {
    expect(problemsOf(body)).toEqual([]);
  });

  it('finds schemas that the world lacks, and which may be meant', () => {
    const unknown = problemsOf({ ...body, readEntities: [{ schema: 'hors' }] });
    expect(unknown).toEqual([
      {
        pointer: '/readEntities/0/schema',
        code: 'unknown_entity_schema',
        message: 'The world has no entity schema "hors". Did you mean "horse"?',
        suggestion: 'Write "horse".',
      },
    ]);
  });

  it('finds values that their attribute refuses', () => {
    const template = { 'horse:H1': { wins: 'one' } };
    expect(problemsOf({ ...body, mutationSettings: { template } })).toMatchObject([
      { pointer: '/mutationSettings/template/horse:H1/wins' },
    ]);
  });

  it('warns of likely mistakes', () => {
    const { warnings } = check({ ...body, guards: { deny: ['win'] } });
    expect(warnings).toMatchObject([{ pointer: '/guards/deny/0', code: 'unknown_attribute' }]);
  });
});

describe('names in a version', () => {
  const { definition } = write(body);

  it('have pointers to each part that names a schema', () => {
    expect(schemasWithPointers(definition, 'stateChangeSchema')).toEqual([
      { name: 'horse', pointer: '/readEntities/0/schema' },
      { name: 'horse', pointer: '/stateChangeSchema/horse' },
      { name: 'horse', pointer: '/mutationSettings/template/horse:H1' },
    ]);
  });

  it('have pointers to the attributes of guards', () => {
    expect(attributesGuarded(definition)).toEqual([
      { name: 'wins', pointer: '/guards/maxDelta/wins' },
      { name: 'name', pointer: '/guards/deny/0' },
    ]);
  });
});
