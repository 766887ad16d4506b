import { describe, expect, it, vi } from 'vitest';
import { type Fault, startFaultProxy } from './fault-proxy.js';
import { prepareHouse } from './running-pusher.js';
import { startSolana } from './solana-house.js';

const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };

/** The numbers that memos hold, in the order of the chain. */
const numbersIn = (memos: readonly Record<string, unknown>[]): number[] =>
  memos.flatMap(({ number, from = number, to = number }) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at),
  );
const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

async function startFaulty(faultOf: (method: string, count: number) => Fault) {
  const solana = await startSolana();
  const house = await prepareHouse();
  const counts = new Map<string, number>();
  const proxy = await startFaultProxy(solana.url, ({ method }) => {
    counts.set(method, (counts.get(method) ?? 0) + 1);
    return faultOf(method, counts.get(method) ?? 0);
  });
  const deployment = house.runtime.createDeployment();
  house.runtime.execute(deployment, { plan });
  const statuses = async () => (await house.pushes(deployment)).data.map(({ status }) => status);
  return { solana, house, deployment, statuses, boot: () => house.boot(solana.through(proxy)) };
}

describe('pushes to a Solana chain', () => {
  it('bring each execution onto the chain once, in order, until it is final', async () => {
    const solana = await startSolana();
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    const first = runtime.execute(deployment, { plan, result: { at: 1 } });
    await boot(solana.chain);
    await vi.waitFor(() => expect(solana.memos()).toHaveLength(1), patiently);
    expect(solana.memos()[0]).toMatchObject({ number: 1, entryHash: first.hash, result: { at: 1 } });
    const more = upTo(30).map(() => runtime.execute(deployment, { plan }));
    await runtime.publish(more[0] as (typeof more)[0]);
    await vi.waitFor(async () => {
      const { pagination } = await pushes(deployment, { state: 'finalized', limit: 1 });
      expect(pagination.total).toBe(31);
    }, patiently);
    expect(numbersIn(solana.memos())).toEqual(upTo(31));
    expect(solana.memos().length).toBeLessThan(31);
    const last = solana.memos().at(-1);
    expect(last).toMatchObject({ entryHash: more.at(-1)?.hash });
  });

  it('push only the digest of what is larger than a memo', async () => {
    const solana = await startSolana();
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    runtime.execute(deployment, { plan, result: { text: 'x'.repeat(600) } });
    await boot(solana.chain);
    await vi.waitFor(() => expect(solana.memos()).toHaveLength(1), patiently);
    const [push] = (await pushes(deployment)).data;
    expect(push?.truncated).toBe(true);
    expect(solana.memos()[0]).toMatchObject({ number: 1, digest: push?.digest, truncated: true });
  });

  it('are sent again, with the same bytes, when their acceptance is not answered', async () => {
    const { solana, statuses, boot } = await startFaulty((method, count) =>
      method === 'sendTransaction' && count <= 2 ? 'lose answer' : 'pass',
    );
    await boot();
    await vi.waitFor(async () => expect(await statuses()).toEqual(['finalized']), patiently);
    expect(numbersIn(solana.memos())).toEqual([1]);
  });

  it('are signed anew once a transaction that was lost can no longer be included', async () => {
    const { solana, statuses, boot } = await startFaulty((method, count) =>
      method === 'sendTransaction' && count <= 12 ? 'swallow' : 'pass',
    );
    await boot();
    await vi.waitFor(async () => expect(await statuses()).toEqual(['finalized']), patiently);
    expect(numbersIn(solana.memos())).toEqual([1]);
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

  it('recognize what the chain holds when the database has been lost', async () => {
    const solana = await startSolana();
    const { runtime, boot } = await prepareHouse();
    const deployment = runtime.createDeployment();
    for (let count = 0; count < 5; count += 1) runtime.execute(deployment, { plan });
    const before = await boot(solana.chain);
    await vi.waitFor(() => expect(numbersIn(solana.memos())).toEqual(upTo(5)), patiently);
    await before[Symbol.asyncDispose]();
    const restored = await prepareHouse(runtime);
    restored.runtime.execute(deployment, { plan });
    await restored.boot(solana.chain);
    await vi.waitFor(() => expect(numbersIn(solana.memos())).toEqual(upTo(6)), patiently);
    await vi.waitFor(async () => {
      const { pagination } = await restored.pushes(deployment, { state: 'finalized' });
      expect(pagination.total).toBe(6);
    }, patiently);
  });

  it('wait while the signer cannot pay', async () => {
    const solana = await startSolana({ funded: false });
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    runtime.execute(deployment, { plan });
    await boot(solana.chain);
    await vi.waitFor(
      async () => expect((await pushes(deployment)).data[0]?.error?.code).toBe('chain_unavailable'),
      patiently,
    );
  });
});
