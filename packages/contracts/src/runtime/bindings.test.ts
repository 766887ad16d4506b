import { expect, it } from 'vitest';
import { bindingChange, bindingInput, bindingRpcs } from './bindings.js';

it('takes the target chains as a set', () => {
  const targetChains = ['base-sepolia', 'near-testnet', 'base-sepolia'];
  const expected = { targetChains: ['base-sepolia', 'near-testnet'] };
  expect(bindingInput.parse({ event: 'race', eventVersion: 1, targetChains })).toMatchObject(expected);
  expect(bindingChange.parse({ event: 'race', targetChains })).toMatchObject(expected);
});

it('gives the address of one new binding, and of the list where there are several', () => {
  const params = { worldAddress: '0xa', address: '0xb' };
  const at = (...events: string[]) =>
    bindingRpcs['bindings.add'].http.location?.({ params }, events.map((event) => ({ event })) as never);
  const list = '/api/worlds/0xa/deployments/0xb/event-bindings';
  expect(at('race & win')).toBe(`${list}?event=race%20%26%20win`);
  expect(at('race', 'train')).toBe(list);
  expect(at()).toBe(list);
});
