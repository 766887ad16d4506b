import { ANVIL_KEYS } from '@orrery/testing/servers';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, it, vi } from 'vitest';
import { startEvm } from './evm-house.js';
import { prepareHouse } from './running-pusher.js';

const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };
const signer = privateKeyToAccount(ANVIL_KEYS[0]).address;

/** A deployment with two final pushes, whose chain is then replaced by one with an empty registry at the same address. */
async function startReplaced() {
  const [evm, anew] = [await startEvm(), await startEvm()];
  const house = await prepareHouse();
  const deployment = house.runtime.createDeployment();
  const untilNewest = (expected: object) =>
    vi.waitFor(async () => {
      const { data } = await house.pushes(deployment);
      expect(data[0]).toMatchObject(expected);
    }, patiently);
  for (const _ of [1, 2]) house.runtime.execute(deployment, { plan });
  const before = await house.boot(evm.chain);
  await untilNewest({ number: 2, status: 'confirmed' });
  await evm.rpc('anvil_mine', '0x8');
  await untilNewest({ number: 2, status: 'finalized' });
  await before[Symbol.asyncDispose]();
  const sent = async () => Number(await anew.rpc('eth_getTransactionCount', signer, 'latest'));
  const sentBefore = await sent();
  house.runtime.execute(deployment, { plan });
  const replaced = await house.boot(anew.chain);
  await untilNewest({ number: 3, status: 'queued', error: { code: 'chain_behind' } });
  expect(await sent()).toBe(sentBefore);
  return { evm, anew, house, deployment, replaced, untilNewest };
}

it('a lane whose chain lacks what was final waits and says so, and goes on where an RPC server of the chain is back', async () => {
  const { evm, house, replaced, untilNewest } = await startReplaced();
  await replaced[Symbol.asyncDispose]();
  await house.boot(evm.chain);
  await untilNewest({ number: 3, status: 'confirmed', error: null });
  expect((await evm.pushed()).map(({ number }) => Number(number))).toEqual([1, 2, 3]);
});

it('a lane whose chain was started anew is pushed again when the operator adopts it', async () => {
  const { anew, house, deployment, untilNewest } = await startReplaced();
  expect(await house.adopt(deployment, 'local')).toContain('after number 0; 3 pushes wait');
  await untilNewest({ number: 3, status: 'confirmed' });
  expect((await anew.pushed()).map(({ number }) => Number(number))).toEqual([1, 2, 3]);
});
