import { ANVIL_KEYS } from '@orrery/testing/servers';
import { encodeFunctionData, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, it, vi } from 'vitest';
import { pushRegistryAbi } from '../src/chains/evm/registry-calls.js';
import { type Evm, startEvm } from './evm-house.js';
import { type Fault, startFaultProxy } from './fault-proxy.js';
import { chainOf, prepareHouse } from './running-pusher.js';
import { startSolana } from './solana-house.js';

const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };
type House = Awaited<ReturnType<typeof prepareHouse>>;

const untilStatus = ({ pushes }: House, deployment: string, ...statuses: string[]) =>
  vi.waitFor(async () => {
    const [push] = (await pushes(deployment)).data;
    expect(statuses).toContain(push?.status);
    return push;
  }, patiently);

/** Two deployments with a push each, and a node that refuses the transactions of the first with these words. */
async function startRefusing(words: string) {
  const evm = await startEvm();
  const house = await prepareHouse();
  const [refused = '', other = ''] = [1, 2].map(() => house.runtime.createDeployment());
  for (const one of [refused, other]) house.runtime.execute(one, { plan });
  const proxy = await startFaultProxy(evm.url, ({ method, params }): Fault => {
    const isRefused = method === 'eth_sendRawTransaction' && String(params[0]).includes(refused.slice(2));
    return isRefused ? { error: words } : 'pass';
  });
  await house.boot(evm.through(proxy));
  return { evm, house, refused, other };
}

it.each(['exceeds block gas limit', 'rejected for a reason that nobody has heard of'])(
  'the transaction of one deployment that a node refuses as "%s" leaves no other one waiting',
  async (words) => {
    const { evm, house, refused, other } = await startRefusing(words);
    await untilStatus(house, other, 'confirmed', 'finalized');
    expect((await evm.pushed()).map(({ deployment }) => deployment.toLowerCase())).toEqual([other]);
    await vi.waitFor(async () => {
      const [push] = (await house.pushes(refused)).data;
      expect(push?.error).toEqual({ code: 'push_refused', detail: words });
    }, patiently);
    expect((await house.call('chains.list', {})).data[0]?.status).toBe('available');
  },
);

it('a node that takes no transactions at present makes them wait, and fails none', async () => {
  const evm = await startEvm();
  const house = await prepareHouse();
  const deployment = house.runtime.createDeployment();
  house.runtime.execute(deployment, { plan });
  let refusals = 0;
  const proxy = await startFaultProxy(evm.url, ({ method }): Fault => {
    if (method !== 'eth_sendRawTransaction' || refusals >= 12) return 'pass';
    refusals += 1;
    return { error: 'txpool is full' };
  });
  await house.boot(evm.through(proxy));
  await untilStatus(house, deployment, 'confirmed', 'finalized');
  expect(refusals).toBe(12);
});

it('a server that does not tell what a chain holds of one deployment keeps no other waiting', async () => {
  const evm = await startEvm();
  const house = await prepareHouse();
  const [untold = '', other = ''] = [1, 2].map(() => house.runtime.createDeployment());
  for (const one of [untold, other]) house.runtime.execute(one, { plan });
  let isTold = false;
  const proxy = await startFaultProxy(evm.url, ({ method, params }): Fault => {
    const isAsked = method === 'eth_call' && JSON.stringify(params).includes(untold.slice(2));
    return isAsked && !isTold ? { error: 'no' } : 'pass';
  });
  await house.boot(evm.through(proxy));
  await untilStatus(house, other, 'confirmed', 'finalized');
  await vi.waitFor(async () => {
    const [push] = (await house.pushes(untold)).data;
    expect(push).toMatchObject({ status: 'queued', error: { code: 'not_compared' } });
  });
  isTold = true;
  await untilStatus(house, untold, 'confirmed', 'finalized');
});

it('on Solana a transaction whose refusal says little stays open until it is too old, and says so', async () => {
  const solana = await startSolana();
  const house = await prepareHouse();
  const deployment = house.runtime.createDeployment();
  house.runtime.execute(deployment, { plan });
  let isRefusing = true;
  const proxy = await startFaultProxy(
    solana.url,
    ({ method }): Fault =>
      isRefusing && method === 'sendTransaction' ? { error: 'something else' } : 'pass',
  );
  await house.boot(solana.through(proxy));
  await vi.waitFor(async () => {
    const [push] = (await house.pushes(deployment)).data;
    expect(push).toMatchObject({ status: 'submitted', error: { code: 'push_unclear' } });
  }, patiently);
  isRefusing = false;
  expect((await untilStatus(house, deployment, 'finalized'))?.error).toBeNull();
  expect(solana.memos()).toHaveLength(1);
});

async function allow(evm: Evm, pusher: string): Promise<void> {
  const data = encodeFunctionData({
    abi: pushRegistryAbi,
    functionName: 'setPusher',
    args: [pusher as Hex, true],
  });
  const from = privateKeyToAccount(ANVIL_KEYS[0]).address;
  await evm.rpc('eth_sendTransaction', { from, to: evm.contract, data });
}

it('what a replaced signer left open goes on with the present one, under its nonces', async () => {
  const evm = await startEvm();
  const house = await prepareHouse();
  const [before, after] = [ANVIL_KEYS[1], ANVIL_KEYS[2]].map((key) => privateKeyToAccount(key).address);
  for (const pusher of [before, after]) await allow(evm, pusher as string);
  // The nonces of the earlier one are ahead of those of the present one.
  for (let count = 0; count < 5; count += 1)
    await evm.rpc('eth_sendTransaction', { from: before, to: before, value: '0x1' });
  const deployment = house.runtime.createDeployment();
  house.runtime.execute(deployment, { plan });
  await evm.rpc('evm_setAutomine', false);
  const first = await house.boot(chainOf(evm.chain.chain as never, ANVIL_KEYS[1]));
  await untilStatus(house, deployment, 'submitted');
  await first[Symbol.asyncDispose]();
  // Its transaction is lost, and it can pay for no other.
  await evm.rpc('anvil_dropAllTransactions');
  await evm.rpc('anvil_setBalance', before, '0x0');
  await evm.rpc('evm_setAutomine', true);
  await house.boot(chainOf(evm.chain.chain as never, ANVIL_KEYS[2]));
  await untilStatus(house, deployment, 'confirmed', 'finalized');
  expect(await evm.pushed()).toHaveLength(1);
  expect(Number(await evm.rpc('eth_getTransactionCount', after, 'latest'))).toBe(1);
});

it('what a replaced signer left in the pool is waited for, and not pushed twice', async () => {
  const evm = await startEvm();
  const house = await prepareHouse();
  const [before, after] = [ANVIL_KEYS[1], ANVIL_KEYS[2]].map((key) => privateKeyToAccount(key).address);
  for (const pusher of [before, after]) await allow(evm, pusher as string);
  const deployment = house.runtime.createDeployment();
  house.runtime.execute(deployment, { plan });
  await evm.rpc('evm_setAutomine', false);
  const first = await house.boot(chainOf(evm.chain.chain as never, ANVIL_KEYS[1]));
  const left = await untilStatus(house, deployment, 'submitted');
  await first[Symbol.asyncDispose]();
  await evm.rpc('evm_setAutomine', true);
  await evm.rpc('evm_mine');
  await house.boot(chainOf(evm.chain.chain as never, ANVIL_KEYS[2]));
  const push = await untilStatus(house, deployment, 'confirmed', 'finalized');
  expect(await evm.pushed()).toHaveLength(1);
  expect(push?.transaction).toBe(left?.transaction);
  expect(Number(await evm.rpc('eth_getTransactionCount', after, 'latest'))).toBe(0);
});
