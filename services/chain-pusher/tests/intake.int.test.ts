import { ServiceError } from '@orrery/contracts';
import { describe, expect, it, vi } from 'vitest';
import { deadChain, OTHER, prepareHouse } from './running-pusher.js';

const plan = { targetChains: ['local', 'gone'], onchain: null };
const toLocal = { targetChains: ['local'], onchain: { result: ['winner'] } };

const patiently = { interval: 20 };

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: unknown) => (error instanceof ServiceError ? error.code : error),
  );

describe('the intake', () => {
  it('numbers the succeeded executions of each deployment and chain, also those of before its start', async () => {
    const { runtime, boot, pushes } = await prepareHouse();
    const one = runtime.createDeployment();
    const other = runtime.createDeployment();
    const first = runtime.execute(one, { plan });
    runtime.execute(one, { plan, status: 'failed' });
    runtime.execute(one);
    runtime.execute(other, { plan: toLocal });
    await boot(deadChain);
    const last = runtime.execute(one, { plan: toLocal });
    await runtime.publish(last);
    await vi.waitFor(async () => {
      expect((await pushes(one)).data).toHaveLength(3);
      expect((await pushes(other)).data).toHaveLength(1);
    }, patiently);
    const seen = (await pushes(one)).data.map(({ chain, number, seq, status }) => [
      chain,
      number,
      seq,
      status,
    ]);
    expect(seen).toEqual([
      ['local', 2, last.seq, 'queued'],
      ['gone', 1, first.seq, 'queued'],
      ['local', 1, first.seq, 'queued'],
    ]);
    expect((await pushes(other)).data).toMatchObject([{ number: 1, historyId: expect.any(String) }]);
  });

  it('takes an entry in once, however often it is delivered', async () => {
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    await boot(deadChain);
    const entries = [1, 2, 3].map(() => runtime.execute(deployment, { plan: toLocal }));
    for (const entry of [...entries, ...entries]) await runtime.publish(entry);
    await vi.waitFor(async () => expect((await pushes(deployment)).data).toHaveLength(3), patiently);
    expect((await pushes(deployment)).data.map(({ number }) => number)).toEqual([3, 2, 1]);
  });

  it('pushes only the digest of what is too large for a chain', async () => {
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    runtime.execute(deployment, { plan: toLocal, result: { winner: 'x'.repeat(9000), other: 1 } });
    runtime.execute(deployment, { plan: toLocal, result: { winner: 'y', other: 'x'.repeat(9000) } });
    await boot(deadChain);
    await vi.waitFor(async () => expect((await pushes(deployment)).data).toHaveLength(2), patiently);
    expect((await pushes(deployment)).data.map(({ truncated }) => truncated)).toEqual([false, true]);
  });

  it('cancels what was not sent when the deployment is deleted', async () => {
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    runtime.execute(deployment, { plan: toLocal });
    runtime.append(deployment, 'deleted', {});
    await boot(deadChain);
    await vi.waitFor(
      async () => expect((await pushes(deployment)).data.map(({ status }) => status)).toEqual(['cancelled']),
      patiently,
    );
  });
});

describe('the list of pushes', () => {
  it('is paged and filtered', async () => {
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    for (let count = 0; count < 5; count += 1) runtime.execute(deployment, { plan });
    await boot(deadChain);
    await vi.waitFor(async () => expect((await pushes(deployment)).data).toHaveLength(10), patiently);
    const { data, pagination } = await pushes(deployment, { chain: 'local', page: 2, limit: 2 });
    expect(data.map(({ number }) => number)).toEqual([3, 2]);
    expect(pagination).toEqual({ page: 2, limit: 2, total: 5, totalPages: 3 });
    expect((await pushes(deployment, { state: 'queued', limit: 100 })).pagination.total).toBe(10);
    expect((await pushes(deployment, { state: 'finalized' })).data).toEqual([]);
    expect(await codeOf(pushes(deployment, { state: 'nonsense' }))).toBe('validation_failed');
  });

  it('says what a queued push waits for', async () => {
    const { runtime, boot, pushes } = await prepareHouse();
    const deployment = runtime.createDeployment();
    runtime.execute(deployment, { plan: { targetChains: ['gone'], onchain: null } });
    await boot(deadChain);
    await vi.waitFor(async () => expect((await pushes(deployment)).data).toHaveLength(1), patiently);
    expect((await pushes(deployment)).data[0]).toMatchObject({
      status: 'queued',
      error: { code: 'chain_unconfigured' },
    });
  });

  it('is for those who may see the deployment; only its owner retries and skips', async () => {
    const { runtime, boot, pushes, call } = await prepareHouse();
    const deployment = runtime.createDeployment();
    const { id: historyId } = runtime.execute(deployment, { plan: toLocal });
    await boot(deadChain);
    await vi.waitFor(async () => expect((await pushes(deployment)).data).toHaveLength(1), patiently);
    const params = { worldAddress: '1', address: deployment, historyId, chain: 'local' };
    expect((await pushes(deployment, {}, OTHER)).data).toHaveLength(1);
    expect(await codeOf(call('pushes.retry', { params }, OTHER))).toBe('forbidden');
    expect(await codeOf(call('pushes.retry', { params }))).toBe('push_not_failed');
    expect(await codeOf(call('pushes.skip', { params: { ...params, chain: 'gone' } }))).toBe(
      'push_not_found',
    );
    expect(await codeOf(call('pushes.skip', { params: { ...params, historyId: 'x' } }))).toBe(
      'push_not_found',
    );
    runtime.hidden.add(deployment);
    expect(await codeOf(pushes(deployment, {}, OTHER))).toBe('deployment_not_found');
    expect(await codeOf(call('pushes.retry', { params }, OTHER))).toBe('deployment_not_found');
  });
});

it('lists the configured chains', async () => {
  const { boot, call } = await prepareHouse();
  await boot(deadChain);
  expect(await call('chains.list', {})).toMatchObject({
    data: [{ name: 'local', caip2: 'eip155:31337', family: 'evm', limits: { contentBytes: 8192 } }],
    pagination: { total: 1 },
  });
});
