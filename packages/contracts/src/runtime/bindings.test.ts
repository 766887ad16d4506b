import { expect, it } from 'vitest';
import { bindingChange, bindingInput } from './bindings.js';

it('takes the target chains as a set', () => {
  const targetChains = ['base-sepolia', 'near-testnet', 'base-sepolia'];
  const expected = { targetChains: ['base-sepolia', 'near-testnet'] };
  expect(bindingInput.parse({ event: 'race', eventVersion: 1, targetChains })).toMatchObject(expected);
  expect(bindingChange.parse({ event: 'race', targetChains })).toMatchObject(expected);
});
