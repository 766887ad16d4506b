import { catalogContract, runtimeContract } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { pathOf, requestParts, requestSchema } from './request-schema.js';

it('tells which headers an operation reads, and whether it takes a body', () => {
  const { rpcs } = catalogContract;
  expect(requestSchema(rpcs['worlds.get'])).toEqual({ headers: [], body: 'none' });
  expect(requestSchema(rpcs['worlds.create'])).toEqual({ headers: ['idempotency-key'], body: 'object' });
  expect(requestSchema(runtimeContract.rpcs['bindings.add']).body).toBe('array');
});

it('tells the parts of a request', () => {
  const { params, query } = requestParts(catalogContract.rpcs['worlds.get']);
  expect(params.safeParse({ idOrAddress: '7' }).success).toBe(true);
  expect(query.safeParse({ page: '1' }).success).toBe(false);
});

it.each([
  ['/api/worlds', '/api/worlds'],
  ['/api/worlds?page=2', '/api/worlds'],
  ['/api/worlds;a#b', '/api/worlds'],
])('the path of %s is %s', (url, path) => {
  expect(pathOf(url)).toBe(path);
});
