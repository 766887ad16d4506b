import { describe, expect, it } from 'vitest';
import { attributeName, schemaName, versionInPath } from '../names/names.js';
import { idempotencyKey } from '../rpc/operation.js';
import { catalogContract } from './contract.js';
import { createEventBody, updateEventBody } from './events.js';
import { readHistory } from './version-parts.js';

const routes = Object.values(catalogContract.rpcs).flatMap((rpc) => ('http' in rpc ? [rpc] : []));
const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe('the catalog contract', () => {
  it('offers 29 operations, each at a place of its own', () => {
    const places = routes.map(({ http }) => `${http?.method} ${http?.path}`);
    expect(new Set(places).size).toBe(29);
  });

  it('answers 201 with a Location for creations alone', () => {
    for (const { http, name } of routes) {
      const creates = name.endsWith('.create');
      expect([http?.status, http?.location !== undefined]).toEqual(creates ? [201, true] : [200, false]);
    }
  });

  it('asks for write and ownership wherever something changes', () => {
    for (const { access, http, name } of routes) {
      // A check of definitions stores nothing.
      const reads = http?.method === 'GET' || name === 'worlds.check';
      expect(access.scope).toBe(reads ? 'read' : 'write');
      if (!reads && name !== 'worlds.create') expect(access.relation).toBe('owner');
    }
  });

  it('encodes names in Locations', () => {
    const { http } = catalogContract.rpcs['attributes.create'];
    const params = { worldAddress: '7', schemaName: 'a/b' };
    expect(http?.location?.({ params }, { name: 'ü ?' })).toBe(
      '/api/worlds/7/entity-schemas/a%2Fb/attributes/%C3%BC%20%3F',
    );
  });

  it('reads what it has read: a request is parsed at the gateway and at the service', () => {
    const { request } = catalogContract.rpcs['versions.get'];
    const sent = {
      params: { worldAddress: '7', eventName: 'e\u0301', version: '3' },
      query: {},
      headers: {},
      body: {},
    };
    const read = request.parse(sent);
    expect(read.params).toEqual({ worldAddress: '7', eventName: 'é', version: 3 });
    expect(request.parse(read)).toEqual(read);
    expect(idempotencyKey.parse('"k"')).toBe('k');
    expect(idempotencyKey.parse(idempotencyKey.parse('"k"'))).toBe('k');
  });
});

describe('names', () => {
  it.each(['horse', 'race horse', 'a/b', 'ünïcödé', '🐎', 'a.b', '$a'])('of schemas may be %j', (name) => {
    expect(accepts(schemaName, name)).toBe(true);
  });
  it('of schemas and events can be reached in a path', () => {
    for (const name of ['.', '..']) {
      expect([accepts(schemaName, name), accepts(updateEventBody, { name })]).toEqual([false, false]);
      expect(accepts(createEventBody, { name, firstVersion: {} })).toBe(false);
    }
    expect([accepts(schemaName, '...'), accepts(updateEventBody, { name: 'a.' })]).toEqual([true, true]);
  });
  it.each(['', ' a', 'a\t', 'a:b', '__proto__', 'a\u200b:', '\ud800'])('of schemas may not be %j', (name) => {
    expect(accepts(schemaName, name)).toBe(false);
  });
  it.each(['speed', 'a:b', 'a$', '{a}', 'max speed'])('of attributes may be %j', (name) => {
    expect(accepts(attributeName, name)).toBe(true);
  });
  it.each(['a.b', '$set', 'a{{b', 'constructor', 'prototype', '__proto__'])(
    'of attributes may not be %j',
    (name) => {
      expect(accepts(attributeName, name)).toBe(false);
    },
  );
  it('of remembered events are names: of 255 characters in NFC, whatever is stored', () => {
    const remember = (event: string) => ({
      firstVersion: { readHistory: { last: 2, events: [event] } },
      name: 'a',
    });
    expect(createEventBody.parse(remember('e\u0301'.repeat(255)))).toEqual(remember('é'.repeat(255)));
    for (const event of ['', 'a'.repeat(256), 'é'.repeat(256), 'a'.repeat(200_000), ' a', 'a\t'])
      expect(accepts(createEventBody, remember(event))).toBe(false);
    expect(accepts(readHistory, { last: 2, events: ['a'.repeat(256)] })).toBe(true);
  });
  it.each(['0', '1', '999999999', 12])('version %j can be looked up', (version) => {
    expect(accepts(versionInPath, version)).toBe(true);
  });
  it.each(['01', '007', '00', '0'])('version %j is found by nobody', (version) => {
    expect(versionInPath.parse(version)).toBe(0);
  });
  it.each(['-1', '1.5', '1e3', 'latest', '', ' 1', '9999999999', 1.5])('version %j cannot', (version) => {
    expect(accepts(versionInPath, version)).toBe(false);
  });
});
