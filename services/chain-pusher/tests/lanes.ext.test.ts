import { describe, expect, it, vi } from 'vitest';
import { startEvm } from './evm-house.js';
import { OWNER } from './fake-runtime.js';
import { prepareHouse } from './running-pusher.js';

const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };
interface TransactionPool {
  readonly pending: Record<string, Record<string, { readonly hash: string }>>;
}
const quota = (pushesPerDay: number, revision: number) => ({
  accountId: OWNER,
  disabled: false,
  quotas: { pushesPerDay },
  revision,
});

describe('lanes', () => {
  it('wait beyond the quota of the account, and say so', async () => {
    const evm = await startEvm();
    const { runtime, accounts, announce, boot, pushes } = await prepareHouse();
    accounts.set(OWNER, quota(3, 1));
    const one = runtime.createDeployment();
    const other = runtime.createDeployment();
    await boot(evm.chain);
    for (let count = 0; count < 3; count += 1) runtime.execute(one, { plan });
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(3), patiently);
    runtime.execute(other, { plan });
    runtime.execute(one, { plan });
    await vi.waitFor(async () => {
      for (const deployment of [one, other])
        expect((await pushes(deployment)).data[0]).toMatchObject({
          status: 'queued',
          error: { code: 'quota_exceeded' },
        });
    }, patiently);
    await announce(quota(100, 2));
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(5), patiently);
  });

  it('are sent by one process at a time, and taken over from one that ends', async () => {
    const evm = await startEvm();
    const house = await prepareHouse();
    const { runtime, boot } = house;
    const deployments = [1, 2, 3].map(() => runtime.createDeployment());
    const first = await boot(evm.chain);
    await boot(evm.chain);
    const execute = (times: number) => {
      for (const deployment of deployments)
        for (let count = 0; count < times; count += 1) runtime.execute(deployment, { plan });
    };
    execute(4);
    await vi.waitFor(async () => expect((await evm.pushed()).length).toBeGreaterThan(2), patiently);
    await first[Symbol.asyncDispose]();
    execute(2);
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(18), patiently);
    for (const deployment of deployments) {
      const own = (await evm.pushed()).filter((log) => log.deployment.toLowerCase() === deployment);
      expect(own.map(({ number }) => Number(number))).toEqual([1, 2, 3, 4, 5, 6]);
    }
  });

  it('recognize what the chain holds when the database has been lost', async () => {
    const evm = await startEvm();
    const { runtime, boot } = await prepareHouse();
    const deployment = runtime.createDeployment();
    for (let count = 0; count < 5; count += 1) runtime.execute(deployment, { plan });
    const before = await boot(evm.chain);
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(5), patiently);
    await before[Symbol.asyncDispose]();

    const restored = await prepareHouse(runtime);
    await restored.boot(evm.chain);
    restored.runtime.execute(deployment, { plan });
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(6), patiently);
    await vi.waitFor(async () => {
      const { data } = await restored.pushes(deployment);
      expect(data.toReversed().map(({ transaction }) => transaction)).toEqual(
        (await evm.pushed()).map(({ transactionHash }) => transactionHash),
      );
    }, patiently);
  });

  it('stop where the chain is ahead, and go on from its number when the operator adopts it', async () => {
    const evm = await startEvm();
    const before = await prepareHouse();
    const deployment = before.runtime.createDeployment();
    for (let count = 0; count < 4; count += 1) before.runtime.execute(deployment, { plan });
    const running = await before.boot(evm.chain);
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(4), patiently);
    await running[Symbol.asyncDispose]();

    // A dump of after the second execution was restored, and the deployment went on.
    before.runtime.journals.get(deployment)?.splice(3);
    const restored = await prepareHouse(before.runtime);
    const later = [5, 6, 7].map((at) => restored.runtime.execute(deployment, { plan, result: { at } }));
    await restored.boot(evm.chain);
    await vi.waitFor(async () => {
      const { data } = await restored.pushes(deployment);
      expect(data[0]).toMatchObject({ number: 5, status: 'queued', error: { code: 'chain_ahead' } });
    }, patiently);
    expect(await evm.pushed()).toHaveLength(4);
    await restored.adopt(deployment, 'local');
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(7), patiently);
    const logs = (await evm.pushed()).slice(4);
    expect(logs.map(({ number }) => Number(number))).toEqual([5, 6, 7]);
    expect(logs.map(({ entryHash }) => entryHash.slice(2))).toEqual(later.map(({ hash }) => hash));
  });

  it('stop where the journal lost entries that were pushed, and go on when the operator adopts the chain', async () => {
    const evm = await startEvm();
    const { runtime, boot, pushes, adopt, lossNoticed } = await prepareHouse();
    const deployment = runtime.createDeployment();
    for (let count = 0; count < 4; count += 1) runtime.execute(deployment, { plan });
    await boot(evm.chain);
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(4), patiently);
    runtime.loseAfter(deployment, 3);
    const later = [1, 2].map(() => runtime.execute(deployment, { plan }));
    await runtime.publish(later[0] as (typeof later)[0]);
    await lossNoticed(deployment);
    expect(await adopt(deployment, 'local')).toContain('after number 4');
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(6), patiently);
    const logs = await evm.pushed();
    expect(logs.map(({ number }) => Number(number))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(logs.slice(4).map(({ entryHash }) => entryHash.slice(2))).toEqual(later.map(({ hash }) => hash));
    expect((await pushes(deployment)).data.map(({ number }) => number).toSorted()).toEqual([
      1, 2, 3, 4, 5, 6,
    ]);
  });

  it('are adopted only when no transaction is under way, and send nothing of what follows before', async () => {
    const evm = await startEvm();
    const { runtime, boot, adopt, lossNoticed } = await prepareHouse();
    const deployment = runtime.createDeployment();
    await evm.rpc('evm_setAutomine', false);
    runtime.execute(deployment, { plan });
    await boot(evm.chain);
    const sent = async () =>
      Object.values(((await evm.rpc('txpool_content')) as TransactionPool).pending).flatMap((byNonce) =>
        Object.values(byNonce).map(({ hash }) => hash),
      );
    await vi.waitFor(async () => expect(await sent()).toHaveLength(1), patiently);
    runtime.loseAfter(deployment, 1);
    const later = runtime.execute(deployment, { plan });
    await runtime.publish(later);
    await lossNoticed(deployment);
    const adopted = adopt(deployment, 'local');
    // A transaction is replaced in a round that read the adoptions before; two of them began after the request.
    for (const _ of [1, 2]) {
      const before = await sent();
      await vi.waitFor(async () => expect(await sent()).not.toEqual(before), patiently);
    }
    await evm.rpc('evm_setAutomine', true);
    await evm.rpc('evm_mine');
    expect(await adopted).toContain('after number 1; 0 pushes wait');
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(2), patiently);
    expect((await evm.pushed())[1]?.entryHash.slice(2)).toBe(later.hash);
  });
});
