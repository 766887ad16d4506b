import type { JournalFact } from '@orrery/contracts';
import { withClient } from '@orrery/testing/servers';
import { hexToString } from 'viem';
import { describe, expect, it, vi } from 'vitest';
import { type Evm, startEvm } from './evm-house.js';
import { rootOf } from './fake-runtime.js';
import { startFaultProxy } from './fault-proxy.js';
import { deadChain, OTHER, prepareHouse } from './running-pusher.js';
import { startSolana } from './solana-house.js';

const heads = { targetChains: [], onchain: null, headChains: ['local'] };
const contents = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };
type House = Awaited<ReturnType<typeof prepareHouse>>;

const at = (time: string) => `2026-11-21T${time}.000Z`;
/** An execution at a time of a day that is over. */
const execute = ({ runtime }: House, deployment: string, time: string, plan: object = heads): JournalFact =>
  runtime.execute(deployment, { plan: plan as never, executedAt: at(time) });

/** A deployment that was made in the same hour. */
function createAt({ runtime }: House, time: string): string {
  const deployment = runtime.createDeployment();
  (runtime.journals.get(deployment)?.[0] as { executedAt: string }).executedAt = at(time);
  return deployment;
}

const headOf = ({ runtime }: House, deployment: string, size: number, before: string) => {
  const hashes = (runtime.journals.get(deployment) ?? []).slice(0, size).map(({ hash }) => hash);
  return { before: at(before), generation: 1, size, rootHash: rootOf(hashes) };
};

const textsOn = async (evm: Evm) => (await evm.pushed()).map(({ data }) => JSON.parse(hexToString(data)));

describe('heads in place of executions', () => {
  it('go to an EVM chain once for each hour in which something happened, in the order of the journal', async () => {
    const [evm, house] = await Promise.all([startEvm(), prepareHouse()]);
    const { runtime, boot, pushes } = house;
    const deployment = createAt(house, '09:10:00');
    for (const time of ['09:20:00', '09:59:59']) execute(house, deployment, time);
    execute(house, deployment, '11:00:00', contents);
    const last = execute(house, deployment, '11:30:00');
    await boot(evm.chain);
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(3), patiently);
    const entries = runtime.journals.get(deployment) ?? [];
    const { before: _first, ...first } = headOf(house, deployment, 3, '10:00:00');
    const { before: _second, ...second } = headOf(house, deployment, 5, '12:00:00');
    expect(await textsOn(evm)).toMatchObject([
      { v: 1, number: 1, deployment, head: first, entryHash: entries[2]?.hash },
      { number: 2, historyId: entries[3]?.id },
      { number: 3, head: second, entryHash: last.hash },
    ]);
    const listed = (await pushes(deployment)).data;
    expect(listed.map(({ seq, number, head }) => [seq, number, head])).toEqual([
      [5, 3, headOf(house, deployment, 5, '12:00:00')],
      [4, 2, undefined],
      [3, 1, headOf(house, deployment, 3, '10:00:00')],
    ]);
  });

  it('go to Solana as whole memos', async () => {
    const [solana, house] = await Promise.all([startSolana(), prepareHouse()]);
    const deployment = createAt(house, '09:10:00');
    const last = execute(house, deployment, '09:20:00');
    await house.boot(solana.chain);
    await vi.waitFor(() => expect(solana.memos()).toHaveLength(1), patiently);
    const { before: _, ...head } = headOf(house, deployment, 2, '10:00:00');
    expect(solana.memos()[0]).toEqual({ v: 1, number: 1, deployment, head, entryHash: last.hash });
    expect((await house.pushes(deployment)).data[0]).toMatchObject({ truncated: false });
  });

  it('wait for the end of their hour, and for all of its entries', async () => {
    const [evm, house] = await Promise.all([startEvm(), prepareHouse()]);
    const { runtime, boot, pushes } = house;
    let time = Date.parse(at('09:50:00'));
    runtime.setClock(() => time);
    const deployment = createAt(house, '09:10:00');
    await runtime.publish(execute(house, deployment, '09:20:00'));
    await boot(evm.chain);
    const other = createAt(house, '08:10:00');
    await runtime.publish(execute(house, other, '08:20:00'));
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(1), patiently);
    expect((await pushes(deployment)).data).toEqual([]);
    // It is not taken in yet when the hour ends.
    execute(house, deployment, '09:40:00', contents);
    time = Date.parse(at('10:00:00')) + 1;
    await vi.waitFor(async () => expect((await pushes(deployment)).pagination.total).toBe(2), patiently);
    const { data } = await pushes(deployment);
    expect(data.map(({ number, seq, head }) => [number, seq, head?.size])).toEqual([
      [2, 3, 3],
      [1, 3, undefined],
    ]);
  });

  it('have the same content when the database was lost, so that the chain takes none twice', async () => {
    const [evm, house] = await Promise.all([startEvm(), prepareHouse()]);
    const deployment = createAt(house, '09:10:00');
    for (const time of ['09:20:00', '10:20:00', '12:20:00']) execute(house, deployment, time);
    const before = await house.boot(evm.chain);
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(3), patiently);
    await before[Symbol.asyncDispose]();
    const restored = await prepareHouse(house.runtime);
    execute(restored, deployment, '14:20:00');
    await restored.boot(evm.chain);
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(4), patiently);
    expect((await textsOn(evm)).map(({ head }) => head.size)).toEqual([2, 3, 4, 5]);
  });

  it('are pushed once by several processes, and count for the quota as any push', async () => {
    const [evm, house] = await Promise.all([startEvm(), prepareHouse()]);
    house.accounts.set(1, {
      ...{ accountId: 1, disabled: false, revision: 1 },
      quotas: { pushesPerDay: 2 },
    } as never);
    const deployment = createAt(house, '08:10:00');
    for (const time of ['08:20:00', '09:20:00', '10:20:00', '11:20:00']) execute(house, deployment, time);
    await Promise.all([house.boot(evm.chain), house.boot(evm.chain)]);
    await vi.waitFor(async () => {
      const { data } = await house.pushes(deployment, { state: 'queued' });
      expect(data.map(({ error }) => error?.code)).toEqual(['quota_exceeded', 'quota_exceeded']);
    }, patiently);
    expect((await textsOn(evm)).map(({ number }) => number)).toEqual([1, 2]);
  });

  it('that are not read yet hold up what comes after them, and nothing before', async () => {
    const [evm, house] = await Promise.all([startEvm(), prepareHouse()]);
    const { runtime, boot, pushes } = house;
    const deployment = createAt(house, '09:10:00');
    runtime.untold.add(deployment);
    execute(house, deployment, '09:15:00', contents);
    execute(house, deployment, '09:20:00');
    execute(house, deployment, '11:00:00', contents);
    await boot(evm.chain);
    await vi.waitFor(async () => {
      const queued = (await pushes(deployment, { state: 'queued' })).data;
      expect(queued.map(({ number, error }) => [number, error?.code])).toEqual([
        [3, 'head_unread'],
        [2, 'head_unread'],
      ]);
    }, patiently);
    expect((await pushes(deployment, { state: 'queued' })).data[1]).toMatchObject({
      digest: '',
      head: { before: at('10:00:00'), size: null },
    });
    expect((await textsOn(evm)).map(({ number }) => number)).toEqual([1]);
    runtime.untold.delete(deployment);
    await vi.waitFor(async () => expect(await evm.pushed()).toHaveLength(3), patiently);
    expect((await textsOn(evm))[1].head.size).toBe(3);
  });

  it('are not pushed of a deployment that is deleted within their hour', async () => {
    const house = await prepareHouse();
    const { runtime, boot, pushes, databaseUrl } = house;
    runtime.setClock(() => 0);
    const deployment = createAt(house, '09:10:00');
    execute(house, deployment, '09:20:00');
    await boot(deadChain);
    const due = () =>
      withClient(databaseUrl, async (client) => {
        const { rows } = await client.query('select from chain_pusher.due_heads');
        return rows.length;
      });
    await expect.poll(due).toBe(1);
    await runtime.publish(runtime.append(deployment, 'deleted', { executedAt: at('09:30:00') }));
    await expect.poll(due).toBe(0);
    expect((await pushes(deployment)).data).toEqual([]);
  });

  it('that a chain refuses are skipped and tried again by their own id', async () => {
    const [evm, house] = await Promise.all([startEvm(), prepareHouse()]);
    const proxy = await startFaultProxy(evm.url, ({ method }) =>
      method === 'eth_sendRawTransaction' ? { error: 'exceeds block gas limit' } : 'pass',
    );
    const deployment = createAt(house, '09:10:00');
    execute(house, deployment, '09:20:00');
    await house.boot(evm.through(proxy));
    const failed = await vi.waitFor(async () => {
      const [push] = (await house.pushes(deployment)).data;
      expect(push?.status).toBe('failed');
      return push;
    }, patiently);
    const params = { worldAddress: '1', address: deployment, historyId: failed?.historyId, chain: 'local' };
    await expect(house.call('pushes.retry', { params }, OTHER)).rejects.toMatchObject({ code: 'forbidden' });
    const { data } = await house.call('pushes.skip', { params });
    expect(data).toMatchObject({ status: 'queued', truncated: true, head: { size: 2 } });
  });
});
