import { describe, expect, it, vi } from 'vitest';
import { prepareHouse } from './running-pusher.js';
import { numbersIn, startSolana } from './solana-house.js';

const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };

const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

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
