import { describe, expect, it, vi } from 'vitest';
import { type Fault, startFaultProxy } from './fault-proxy.js';
import { prepareHouse } from './running-pusher.js';
import { numbersIn, startSolana } from './solana-house.js';

const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };

async function startFaulty(faultOf: (method: string, count: number, raw: unknown) => Fault) {
  const solana = await startSolana();
  const house = await prepareHouse();
  const counts = new Map<string, number>();
  const proxy = await startFaultProxy(solana.url, ({ method, params: [first] }) => {
    counts.set(method, (counts.get(method) ?? 0) + 1);
    return faultOf(method, counts.get(method) ?? 0, first);
  });
  const deployment = house.runtime.createDeployment();
  house.runtime.execute(deployment, { plan });
  const statuses = async () => (await house.pushes(deployment)).data.map(({ status }) => status);
  return { solana, house, deployment, statuses, boot: () => house.boot(solana.through(proxy)) };
}

describe('pushes to a Solana chain', () => {
  it('are sent again, with the same bytes, when their acceptance is not answered', async () => {
    const { solana, statuses, boot } = await startFaulty((method, count) =>
      method === 'sendTransaction' && count <= 2 ? 'lose answer' : 'pass',
    );
    await boot();
    await vi.waitFor(async () => expect(await statuses()).toEqual(['finalized']), patiently);
    expect(numbersIn(solana.memos())).toEqual([1]);
  });

  it('are signed anew once a transaction that was lost can no longer be included', async () => {
    let lost: unknown;
    const { solana, statuses, boot } = await startFaulty((method, _count, raw) => {
      if (method !== 'sendTransaction') return 'pass';
      lost ??= raw;
      return raw === lost ? 'swallow' : 'pass';
    });
    await boot();
    await vi.waitFor(() => expect(lost).toBeDefined(), patiently);
    solana.node.outdate();
    await vi.waitFor(async () => expect(await statuses()).toEqual(['finalized']), patiently);
    expect(numbersIn(solana.memos())).toEqual([1]);
  });

  it('wait for the one before until its block is confirmed, since a fork may still take that one away', async () => {
    const solana = await startSolana({ slotMs: 600 });
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    let looks = 0;
    // At the second look, whatever follows the first push has been sent.
    const proxy = await startFaultProxy(solana.url, ({ method }): Fault => {
      const [first] = solana.node.memos();
      if (first === undefined || method !== 'getSignatureStatuses') return 'pass';
      looks += 1;
      if (looks === 2) solana.node.loseUnconfirmed(first);
      return 'pass';
    });
    await boot(solana.through(proxy));
    const execute = () => void runtime.publish(runtime.execute(deployment, { plan }));
    execute();
    await vi.waitFor(() => expect(solana.memos()).toHaveLength(1), { interval: 2 });
    execute();
    await vi.waitFor(async () => {
      const { data } = await pushes(deployment);
      expect(data.map(({ status }) => status)).toEqual(['finalized', 'finalized']);
    }, patiently);
    expect(looks).toBeGreaterThan(1);
    expect(numbersIn(solana.memos())).toEqual([1, 2]);
  });

  it('are sent again when a fork took them away', async () => {
    const solana = await startSolana();
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    runtime.execute(deployment, { plan });
    await boot(solana.chain);
    await vi.waitFor(() => expect(solana.memos()).toHaveLength(1), { interval: 2 });
    solana.node.fork();
    await vi.waitFor(
      async () => expect((await pushes(deployment)).data[0]?.status).toBe('finalized'),
      patiently,
    );
    expect(numbersIn(solana.memos())).toEqual([1]);
  });

  it('are not repeated by a lost database whose server lags behind the one that told of the newest slot', async () => {
    const solana = await startSolana();
    const before = await prepareHouse();
    const deployment = before.runtime.createDeployment();
    before.runtime.execute(deployment, { plan });
    const running = await before.boot(solana.chain);
    const statusOf = async ({ pushes }: typeof before) => (await pushes(deployment)).data.at(-1)?.status;
    await vi.waitFor(async () => expect(await statusOf(before)).toBe('finalized'), patiently);
    await running[Symbol.asyncDispose]();
    let [isBehind, asked] = [true, 0];
    const proxy = await startFaultProxy(solana.url, ({ method, params: [, options] }): Fault => {
      if (!isBehind || method !== 'getSignaturesForAddress') return 'pass';
      asked += 1;
      const { minContextSlot = 0 } = options as { minContextSlot?: number };
      if (minContextSlot === 0) return { own: [] };
      return { error: 'Minimum context slot has not been reached', code: -32_016 };
    });
    const restored = await prepareHouse(before.runtime);
    await restored.boot(solana.through(proxy));
    await vi.waitFor(() => expect(asked).toBeGreaterThan(2), patiently);
    isBehind = false;
    await vi.waitFor(async () => expect(await statusOf(restored)).toBe('finalized'), patiently);
    expect(numbersIn(solana.memos())).toEqual([1]);
  });
});
