import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { catalogContract } from '../catalog/contract.js';
import type { ServiceError } from '../errors/service-error.js';
import { jsonObject } from '../json/json-schemas.js';
import { runtimeContract } from '../runtime/contract.js';
import { problemsOf } from './request-problems.js';
import { parseRequest } from './rpc.js';

const body = z.strictObject({ name: z.string(), template: jsonObject.optional() });
const problems = (value: unknown) => {
  const { error } = body.safeParse(value);
  return error === undefined ? [] : problemsOf(error);
};

describe('problemsOf', () => {
  it('says that a field is missing', () => {
    const message = 'Required, but missing: expected string.';
    expect(problems({})).toEqual([{ pointer: '/name', code: 'invalid_type', message }]);
    expect(problems(undefined)[0]?.message).toBe('Required, but missing: expected object.');
  });

  it('speaks of objects, as JSON does', () => {
    expect(problems({ name: 'a', template: 'x' })).toEqual([
      {
        pointer: '/template',
        code: 'invalid_type',
        message: 'Invalid input: expected object, received string.',
      },
    ]);
    expect(problems({ name: null })[0]?.message).toBe('Invalid input: expected string, received null.');
  });

  it('names every property that is not known, at its place', () => {
    expect(problems({ name: 'a', 'b/c': 1, d: 2 })).toEqual([
      { pointer: '/b~1c', code: 'unknown_property', message: 'The property "b/c" is not known.' },
      { pointer: '/d', code: 'unknown_property', message: 'The property "d" is not known.' },
    ]);
  });
});

describe('parseRequest', () => {
  const { rpcs } = catalogContract;
  const refused = (name: keyof typeof rpcs, request: object): string[] => {
    try {
      parseRequest(rpcs[name], { params: {}, query: {}, headers: {}, body: {}, ...request });
    } catch (error) {
      return (error as ServiceError).errors.map(({ pointer, message }) => `${pointer}: ${message}`);
    }
    return [];
  };
  const version = (body: object) =>
    refused('versions.create', { params: { worldAddress: '1', eventName: 'race' }, body });
  const world = (body: object) => refused('worlds.create', { body: { name: 'Derby', ...body } });

  it('shows what was found, with its type', () => {
    expect(world({ name: 7 })).toEqual(['/name: Expected string; found the number 7.']);
    expect(world({ domainTags: 'racing' })).toEqual([
      '/domainTags: Expected array; found the text "racing".',
    ]);
    expect(version({ stateChanges: { horse: 'partal' } })).toEqual([
      '/stateChanges/horse: Invalid option: expected one of "partial"|"full"|"append"; found the text "partal". Did you mean "partial"?',
    ]);
    expect(version({ executionSettings: { priceUsd: -1 } })).toEqual([
      '/executionSettings/priceUsd: Too small: expected number to be >=0; found the number -1.',
    ]);
  });

  it('asks whether another property was meant, at any depth', () => {
    expect(version({ stateChange: {} })).toEqual([
      '/stateChange: The property "stateChange" is not known. Did you mean "stateChanges"?',
    ]);
    expect(version({ readEntities: [{ schema: 'horse', filters: ['id'] }] })).toEqual([
      '/readEntities/0/filters: The property "filters" is not known. Did you mean "filter"?',
    ]);
    expect(version({ executionSettings: { cron: { shedule: '* * * * *' } } })).toEqual([
      '/executionSettings/cron/shedule: The property "shedule" is not known. Did you mean "schedule"?',
    ]);
    expect(refused('worlds.list', { query: { pages: '1' } })).toEqual([
      '#query/pages: The property "pages" is not known. Did you mean "page"?',
    ]);
  });

  it('names the known properties where none is near', () => {
    expect(world({ title: 'x' })).toEqual([
      '/title: The property "title" is not known. Known here: name, description, domainTags, promptSeed.',
    ]);
  });

  it('shows the space at the end of a name', () => {
    expect(world({ name: 'Derby ' })).toEqual([
      '/name: The text "Derby " has a space at its end. Leave it out.',
    ]);
    expect(world({ name: ' Derby' })).toEqual([
      '/name: The text " Derby" has a space at its start. Leave it out.',
    ]);
  });

  it('counts the keys of a map before it looks at them', () => {
    const stateChanges = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`horse${at}`, 'x']));
    expect(version({ stateChanges })).toEqual([
      '/stateChanges: An object of at most 10000 keys is allowed here.',
    ]);
  });

  it('refuses the names that come after a budget of text to be brought to NFC', () => {
    const bindings = (event: string) =>
      Array.from({ length: 600 }, (_, at) => ({ event: `${event}${at}`, eventVersion: 1 }));
    const create = runtimeContract.rpcs['bindings.add'];
    const parse = (event: string) => {
      const params = { worldAddress: '1', address: `0x${'0'.repeat(40)}` };
      try {
        return parseRequest(create, { params, query: {}, headers: {}, body: bindings(event) }).body.length;
      } catch (error) {
        return (error as ServiceError).errors[0]?.message;
      }
    };
    const tooMuch = expect.stringContaining('more text to be brought to Unicode normal form NFC');
    expect(parse('\u03b9\u0308\u0301'.repeat(170))).toEqual(tooMuch);
    expect(parse(`a${'\u0316\u0315'.repeat(40)}`)).toBe(600);
    expect(parse(`a${'\u0316\u0315'.repeat(250)}`)).toBe('A name may have at most 255 characters.');
    // Each request has its own budget, and names that are in NFC use up none of it.
    expect(parse('\u0390'.repeat(250))).toBe(600);
  });

  it('goes through a request once', () => {
    const create = rpcs['worlds.create'];
    const parse = vi.spyOn(create.request, 'safeParse');
    world({ name: 7 });
    expect(parse).toHaveBeenCalledTimes(1);
    parse.mockRestore();
  });
});
