import { deployRegistry } from '@orrery/chain-pusher/operator';
import type { EvmChainConfig } from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import { ANVIL_KEYS } from '@orrery/testing/servers';
import { encodeFunctionData, parseGwei, toFunctionSelector } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it, vi } from 'vitest';
import { pushRegistryAbi } from '../src/chains/evm/registry-calls.js';
import { type Evm, startEvm } from './evm-house.js';
import { type Fault, startFaultProxy } from './fault-proxy.js';
import { prepareHouse } from './running-pusher.js';

const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };
const signer = privateKeyToAccount(ANVIL_KEYS[0]).address;
type House = Awaited<ReturnType<typeof prepareHouse>>;

const DIGEST_OF = toFunctionSelector('digestOf(address,uint64)');
const numbersOn = async (evm: Evm) => (await evm.pushed()).map(({ number }) => Number(number));
const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

/** Executes and waits until the statuses of the deployment's pushes are these, oldest first. */
async function untilStatuses({ pushes }: House, deployment: string, ...expected: string[]) {
  await vi.waitFor(async () => {
    const { data } = await pushes(deployment, { limit: 100 });
    expect(data.toReversed().map(({ status }) => status)).toEqual(expected);
  }, patiently);
  return (await pushes(deployment, { limit: 100 })).data.toReversed();
}

/** An execution that the pusher hears of at once. */
function executeNow({ runtime }: House, deployment: string) {
  const entry = runtime.execute(deployment, { plan });
  void runtime.publish(entry);
  return entry;
}

/** A house whose pusher reaches anvil through a proxy with these faults. */
async function startFaulty(faultOf: (method: string, count: number) => Fault) {
  const evm = await startEvm();
  const house = await prepareHouse();
  const counts = new Map<string, number>();
  const proxy = await startFaultProxy(evm.url, ({ method }) => {
    const count = (counts.get(method) ?? 0) + 1;
    counts.set(method, count);
    return faultOf(method, count);
  });
  const deployment = house.runtime.createDeployment();
  const execute = () => executeNow(house, deployment);
  return { evm, house, proxy, deployment, execute, boot: () => house.boot(evm.through(proxy)) };
}

describe('an EVM chain whose RPC server fails', () => {
  it('has a transaction once whose acceptance was never answered', async () => {
    const sent = 'eth_sendRawTransaction';
    const { evm, house, deployment, execute, boot } = await startFaulty((method, count) =>
      method === sent && count <= 2 ? 'lose answer' : 'pass',
    );
    for (let count = 0; count < 3; count += 1) execute();
    await boot();
    await untilStatuses(house, deployment, 'confirmed', 'confirmed', 'confirmed');
    expect(await numbersOn(evm)).toEqual([1, 2, 3]);
  });

  it('gets a transaction again that it took and lost', async () => {
    const { evm, house, deployment, execute, boot } = await startFaulty((method, count) =>
      method === 'eth_sendRawTransaction' && count <= 2 ? 'swallow' : 'pass',
    );
    execute();
    await boot();
    const [push] = await untilStatuses(house, deployment, 'confirmed');
    expect(await numbersOn(evm)).toEqual([1]);
    expect((await evm.pushed())[0]?.transactionHash).toBe(push?.transaction);
  });

  it('is reached through the next server of the list', async () => {
    const evm = await startEvm();
    const house = await prepareHouse();
    const refusing = await startFaultProxy(evm.url, () => 'refuse');
    const deployment = house.runtime.createDeployment();
    executeNow(house, deployment);
    await house.boot(evm.through(refusing, evm.url));
    await untilStatuses(house, deployment, 'confirmed');
  });

  it('is unavailable while it is away, and gets everything afterwards', async () => {
    let away = true;
    const { evm, house, deployment, execute, boot } = await startFaulty(() => (away ? 'refuse' : 'pass'));
    execute();
    await boot();
    await vi.waitFor(async () => {
      expect((await house.pushes(deployment)).data[0]?.error?.code).toBe('chain_unavailable');
      expect((await house.call('chains.list', {})).data[0]?.status).toBe('unavailable');
    }, patiently);
    away = false;
    execute();
    await untilStatuses(house, deployment, 'confirmed', 'confirmed');
    expect(await numbersOn(evm)).toEqual([1, 2]);
  });
});

it('a lane of a lost database waits for an RPC server that is behind the one that told of its last push', async () => {
  const evm = await startEvm();
  const before = await prepareHouse();
  const deployment = before.runtime.createDeployment();
  executeNow(before, deployment);
  const running = await before.boot(evm.chain);
  await untilStatuses(before, deployment, 'confirmed');
  await running[Symbol.asyncDispose]();
  let [late, isBehind] = [0, true];
  const proxy = await startFaultProxy(evm.url, ({ params: [asked] }): Fault => {
    if (!isBehind || !(asked as { data?: string } | undefined)?.data?.startsWith(DIGEST_OF)) return 'pass';
    late += 1;
    return { result: `0x${'00'.repeat(32)}` };
  });
  const restored = await prepareHouse(before.runtime);
  await restored.boot(evm.through(proxy));
  await untilStatuses(restored, deployment, 'queued');
  late = 0;
  await vi.waitFor(() => expect(late).toBeGreaterThan(2), patiently);
  isBehind = false;
  executeNow(restored, deployment);
  await untilStatuses(restored, deployment, 'confirmed', 'confirmed');
  expect(await numbersOn(evm)).toEqual([1, 2]);
});

describe('an EVM chain that changes its mind', () => {
  it('gets what a reorganization dropped again, under the same numbers', async () => {
    const evm = await startEvm();
    const house = await prepareHouse();
    const deployment = house.runtime.createDeployment();
    executeNow(house, deployment);
    await house.boot(evm.chain);
    await untilStatuses(house, deployment, 'confirmed');
    executeNow(house, deployment);
    await untilStatuses(house, deployment, 'confirmed', 'confirmed');
    const before = await evm.pushed();
    // What is sent again stays out of blocks, until the test has seen that they are gone.
    await evm.rpc('evm_setAutomine', false);
    await evm.rpc('anvil_rollback', 2);
    expect(await numbersOn(evm)).toEqual([]);
    await evm.rpc('evm_setAutomine', true);
    await evm.rpc('evm_mine');
    await vi.waitFor(async () => expect(await numbersOn(evm)).toEqual([1, 2]), patiently);
    await untilStatuses(house, deployment, 'confirmed', 'confirmed');
    expect((await evm.pushed()).map(({ digest }) => digest)).toEqual(before.map(({ digest }) => digest));
  });

  it('gets again what a reorganization dropped between the look at the chain and the look for transactions', async () => {
    const evm = await startEvm();
    const house = await prepareHouse();
    const deployment = house.runtime.createDeployment();
    let isDue = false;
    let isDone = false;
    const proxy = await startFaultProxy(evm.url, async ({ method }): Promise<Fault> => {
      if (isDue && method === 'eth_getTransactionReceipt') {
        isDue = false;
        await evm.rpc('anvil_rollback', 2);
        isDone = true;
      }
      return 'pass';
    });
    executeNow(house, deployment);
    await house.boot(evm.through(proxy));
    await untilStatuses(house, deployment, 'confirmed');
    executeNow(house, deployment);
    await untilStatuses(house, deployment, 'confirmed', 'confirmed');
    isDue = true;
    await vi.waitFor(() => expect(isDone).toBe(true), patiently);
    await vi.waitFor(async () => expect(await numbersOn(evm)).toEqual([1, 2]), patiently);
    await untilStatuses(house, deployment, 'confirmed', 'confirmed');
  });

  it('gets a stuck transaction again with higher fees, up to the highest', async () => {
    const evm = await startEvm({ config: { maxFeeGwei: 200 } });
    const house = await prepareHouse();
    const deployment = house.runtime.createDeployment();
    await evm.rpc('evm_setAutomine', false);
    executeNow(house, deployment);
    await house.boot(evm.chain);
    await untilStatuses(house, deployment, 'submitted');
    const pending = async () => {
      const block = (await evm.rpc('eth_getBlockByNumber', 'pending', true)) as {
        transactions: { maxFeePerGas: string; nonce: string }[];
      };
      return block.transactions.map(({ maxFeePerGas }) => Number(maxFeePerGas));
    };
    // It is stored as submitted before it is sent.
    const first = await vi.waitFor(async () => {
      const [fee] = await pending();
      if (fee === undefined) throw new Error('nothing has been sent');
      return fee;
    }, patiently);
    await vi.waitFor(
      async () => expect((await pending())[0]).toBeGreaterThanOrEqual(first * 1.25),
      patiently,
    );
    expect((await pending()).length).toBe(1);
    await evm.rpc('evm_setAutomine', true);
    await evm.rpc('evm_mine');
    await untilStatuses(house, deployment, 'confirmed');
    expect(await numbersOn(evm)).toEqual([1]);
  });

  it('gets nothing while its base fee is above the highest allowed, and everything afterwards', async () => {
    const evm = await startEvm({ config: { maxFeeGwei: 50 } });
    const house = await prepareHouse();
    const deployment = house.runtime.createDeployment();
    await evm.rpc('anvil_setNextBlockBaseFeePerGas', `0x${parseGwei('500').toString(16)}`);
    await evm.rpc('evm_mine');
    executeNow(house, deployment);
    await house.boot(evm.chain);
    await vi.waitFor(async () => {
      expect((await house.call('chains.list', {})).data[0]?.status).toBe('available');
      expect((await house.pushes(deployment)).data[0]?.status).toBe('queued');
    }, patiently);
    await evm.rpc('anvil_setNextBlockBaseFeePerGas', '0x1');
    await evm.rpc('evm_mine');
    await untilStatuses(house, deployment, 'confirmed');
  });

  it('may be ahead of the nonces, as when others use the key', async () => {
    const evm = await startEvm();
    const house = await prepareHouse();
    const deployment = house.runtime.createDeployment();
    executeNow(house, deployment);
    await evm.rpc('evm_setAutomine', false);
    await house.boot(evm.chain);
    await untilStatuses(house, deployment, 'submitted');
    // Another transaction takes the nonce of the one that waits.
    await evm.rpc('anvil_dropAllTransactions');
    const nonce = Number(await evm.rpc('eth_getTransactionCount', signer, 'latest'));
    await evm.rpc('anvil_setNonce', signer, `0x${(nonce + 3).toString(16)}`);
    await evm.rpc('evm_setAutomine', true);
    await evm.rpc('evm_mine');
    await untilStatuses(house, deployment, 'confirmed');
    expect(await numbersOn(evm)).toEqual([1]);
  });

  it('may be behind the nonces, as after a reset of the node', async () => {
    const evm = await startEvm();
    const house = await prepareHouse();
    const deployment = house.runtime.createDeployment();
    await house.boot(evm.chain);
    for (let count = 0; count < 3; count += 1) executeNow(house, deployment);
    await untilStatuses(house, deployment, ...Array(3).fill('confirmed'));
    await evm.rpc('anvil_mine', '0x8');
    await untilStatuses(house, deployment, ...Array(3).fill('finalized'));
    const nonce = Number(await evm.rpc('eth_getTransactionCount', signer, 'latest'));
    await evm.rpc('anvil_setNonce', signer, `0x${(nonce - 1).toString(16)}`);
    executeNow(house, deployment);
    await untilStatuses(house, deployment, 'finalized', 'finalized', 'finalized', 'confirmed');
    expect(await numbersOn(evm)).toEqual(upTo(4));
  });

  it('is unavailable while its registry does not let the signer push', async () => {
    const evm = await startEvm();
    const house = await prepareHouse();
    const allow = (allowed: boolean) =>
      evm.rpc('eth_sendTransaction', {
        from: signer,
        to: evm.contract,
        data: encodeFunctionData({
          abi: pushRegistryAbi,
          functionName: 'setPusher',
          args: [signer, allowed],
        }),
      });
    await allow(false);
    const deployment = house.runtime.createDeployment();
    executeNow(house, deployment);
    await house.boot(evm.chain);
    await vi.waitFor(
      async () => expect((await house.pushes(deployment)).data[0]?.error?.code).toBe('chain_unavailable'),
      patiently,
    );
    await allow(true);
    await untilStatuses(house, deployment, 'confirmed');
  });
});

describe('a push that the chain refuses', () => {
  const refusal = 'exceeds block gas limit';

  it('stops its own lane until it is retried', async () => {
    let refusing = true;
    const { house, deployment, execute, boot } = await startFaulty((method) =>
      refusing && method === 'eth_sendRawTransaction' ? { error: refusal } : 'pass',
    );
    const { id: historyId } = execute();
    await boot();
    const [failed] = await untilStatuses(house, deployment, 'failed');
    expect(failed?.error).toEqual({ code: 'push_refused', detail: refusal });
    execute();
    const waiting = await untilStatuses(house, deployment, 'failed', 'queued');
    expect(waiting[1]?.error?.code).toBe('failed');
    refusing = false;
    const params = { worldAddress: '1', address: deployment, historyId, chain: 'local' };
    expect((await house.call('pushes.retry', { params })).data).toMatchObject({
      status: 'queued',
      error: null,
    });
    await untilStatuses(house, deployment, 'confirmed', 'confirmed');
  });

  it('is sent again when it is retried alone, where its transaction is the one that was refused first', async () => {
    let refusing = true;
    const { house, deployment, execute, boot } = await startFaulty((method) =>
      refusing && method === 'eth_sendRawTransaction' ? { error: refusal } : 'pass',
    );
    const { id: historyId } = execute();
    await boot();
    await untilStatuses(house, deployment, 'failed');
    refusing = false;
    await house.call('pushes.retry', {
      params: { worldAddress: '1', address: deployment, historyId, chain: 'local' },
    });
    await untilStatuses(house, deployment, 'confirmed');
  });

  it('goes as its digest alone when it is skipped', async () => {
    let refusing = true;
    const { evm, house, deployment, execute, boot } = await startFaulty((method) =>
      refusing && method === 'eth_sendRawTransaction' ? { error: refusal } : 'pass',
    );
    const { id: historyId } = execute();
    await boot();
    await untilStatuses(house, deployment, 'failed');
    refusing = false;
    await house.call('pushes.skip', {
      params: { worldAddress: '1', address: deployment, historyId, chain: 'local' },
    });
    const [push] = await untilStatuses(house, deployment, 'confirmed');
    expect(push).toMatchObject({ truncated: true, number: 1 });
    expect(await evm.pushed()).toMatchObject([{ data: '0x', digest: `0x${push?.digest}` }]);
  });
});

it('deploys its registry with the key of the configuration alone', async () => {
  const evm = await startEvm();
  const chain = { ...evm.chain.chain, caip2: 'eip155:1' } as EvmChainConfig;
  const deploying = deployRegistry(
    chain,
    ANVIL_KEYS[0],
    { ...systemClock, sleep: async () => undefined },
    new AbortController().signal,
  );
  await expect(deploying).rejects.toThrow('of the chain eip155:31337, not of eip155:1');
});
