import { catalogContract, type RoutedRpc, runtimeContract } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { envelopeOf, mayPass } from './reply-text.js';

const routed = (rpc: unknown) => rpc as RoutedRpc;
const execute = routed(runtimeContract.rpcs['deployments.execute']);

it('passes on what has neither a Location nor another status', () => {
  expect(mayPass(routed(catalogContract.rpcs['worlds.list']), '{"data":[]}')).toBe(true);
  expect(mayPass(routed(catalogContract.rpcs['worlds.create']), '{"data":{"id":1}}')).toBe(false);
  expect(mayPass(execute, '{"data":{"kind":"committed","seq":1}}')).toBe(true);
  expect(mayPass(execute, '{"data":{"kind":"accepted","executionId":"e"}}')).toBe(false);
});

it.each([
  ['plain', { data: { a: 1 } }, undefined],
  ['a text at the end', { data: [], message: 'made' }, undefined],
  ['a tag', { data: { a: 'x' }, etag: '7' }, '7'],
  ['a quoted tag', { data: {}, etag: '"7"' }, '"7"'],
  ['a tag within the data', { data: { b: 1, etag: '8' } }, undefined],
  ['a text that looks like a tag', { data: {}, message: 'a,"etag":"9' }, undefined],
  ['such a text before the tag', { data: 'a,"etag":"9"}', etag: '7' }, '7'],
])('wraps a reply with %s as if it had been parsed', (_what, reply, tag) => {
  const { etag: _, ...members } = reply as { data: unknown; etag?: string };
  const { body, etag } = envelopeOf(JSON.stringify(reply));
  expect([JSON.parse(body), etag]).toEqual([{ success: true, ...members }, tag]);
});
