import { createHash } from 'node:crypto';
import { hexToString } from 'viem';
import { describe, expect, it, vi } from 'vitest';
import { startEvm } from './evm-house.js';
import { startFaultProxy } from './fault-proxy.js';
import { prepareHouse } from './running-pusher.js';

const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };

describe('pushes to an EVM chain', () => {
  it('bring each execution onto the chain once, in order, with the content that the list shows', async () => {
    const evm = await startEvm();
    const { runtime, boot, pushes } = await prepareHouse();
    const one = runtime.createDeployment();
    const other = runtime.createDeployment();
    const entries = [1, 2, 3].map((at) => runtime.execute(one, { plan, result: { at } }));
    runtime.execute(other, { plan });
    await boot(evm.chain);
    const late = runtime.execute(one, { plan, result: { at: 4 } });
    await vi.waitFor(async () => {
      const all = [...(await pushes(one)).data, ...(await pushes(other)).data];
      expect(all.map(({ status }) => status)).toEqual(
        Array(5).fill(expect.stringMatching(/^(confirmed|finalized)$/)),
      );
    }, patiently);
    const logs = (await evm.pushed()).filter(({ deployment }) => deployment.toLowerCase() === one);
    expect(logs.map(({ number }) => Number(number))).toEqual([1, 2, 3, 4]);
    expect(logs.map(({ entryHash }) => entryHash.slice(2))).toEqual(
      [...entries, late].map(({ hash }) => hash),
    );
    const listed = (await pushes(one)).data.toReversed();
    for (const [at, { data, digest, transactionHash, blockNumber }] of logs.entries()) {
      const text = hexToString(data);
      expect(JSON.parse(text)).toMatchObject({ number: at + 1, deployment: one, result: { at: at + 1 } });
      expect(digest).toBe(`0x${createHash('sha256').update(text).digest('hex')}`);
      expect(listed[at]).toMatchObject({
        number: at + 1,
        digest: digest.slice(2),
        transaction: transactionHash,
        block: Number(blockNumber),
        error: null,
      });
    }
  });

  it('are final once their block is', async () => {
    const evm = await startEvm();
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    runtime.execute(deployment, { plan });
    await boot(evm.chain);
    await vi.waitFor(
      async () => expect((await pushes(deployment)).data[0]?.status).toBe('confirmed'),
      patiently,
    );
    await evm.rpc('anvil_mine', '0x8');
    await vi.waitFor(
      async () => expect((await pushes(deployment)).data[0]?.status).toBe('finalized'),
      patiently,
    );
  });

  it('of a backlog share transactions', async () => {
    const evm = await startEvm();
    const { runtime, boot, pushes } = await prepareHouse();
    let isAway = true;
    const proxy = await startFaultProxy(evm.url, () => (isAway ? 'refuse' : 'pass'));
    const deployment = runtime.createDeployment();
    for (let count = 0; count < 60; count += 1) runtime.execute(deployment, { plan });
    await boot(evm.through(proxy));
    // The whole backlog waits before the first is sent.
    await vi.waitFor(async () => {
      const { pagination } = await pushes(deployment, { limit: 1 });
      expect(pagination.total).toBe(60);
    }, patiently);
    isAway = false;
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(60), patiently);
    const logs = await evm.pushed();
    expect(logs.map(({ number }) => Number(number))).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
    expect(new Set(logs.map(({ transactionHash }) => transactionHash)).size).toBeLessThan(20);
  });
});
