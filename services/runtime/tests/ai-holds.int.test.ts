import { once } from 'node:events';
import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { type ModelCall, type Profile, says, startModelServer } from '@orrery/testing/model-server';
import { afterAll, afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { judgeVersion } from './fake-catalog.js';
import { modelNamed } from './model-double.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
house.catalog.plantVersion({
  ...judgeVersion,
  event: 'survey',
  versionId: 80,
  readEntities: [{ schema: 'counter' }],
});
const server = await startModelServer();
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => server.reset());
const logger = createLogger({ service: 'test', level: 'error' });
const options = { url: house.databaseUrl, schema: 'public', applicationName: 'test', logger };
const database = house.resources.use('looking on', await connect(options));
const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one[Symbol.asyncDispose]();
});

const hangs: Profile = async ({ gone }) => {
  if (!gone.aborted) await once(gone, 'abort');
};

/** `callMs`: the time of one call, in milliseconds, and that of a hold too. */
const boot = async ({
  callMs = 5000,
  ...more
}: Parameters<typeof house.boot>[0] & { callMs?: number } = {}) => {
  const model = { ...modelNamed('slow', true), baseUrl: server.baseUrl, timeoutMs: callMs };
  const runtime = await house.boot({ models: [model], ...more });
  running.push(runtime);
  return runtime;
};

/**
 * An execution that nobody waits for, whose read went stale: the model is asked again while a schema is held.
 * `onFirst`: the model is asked for the first time, for a deployment with this id.
 */
async function plantHolding({ onFirst = (_id: number) => {}, calls = 2 } = {}) {
  const planted = await plantDeployment(house, {
    bindings: ['survey', 'increment'].map((event) => ({ event, eventVersion: 1 })),
  });
  server.plan(async (call: ModelCall) => {
    await planted.createCounter('new');
    onFirst(planted.deployment.id);
    await says({ stateChanges: {}, result: null })(call);
  });
  server.behave(hangs);
  const headers = { prefer: 'respond-async' };
  const { data } = await planted.execute({ id: 'x' }, { headers }, 'survey');
  const { executionId } = data as { executionId: string };
  await vi.waitFor(() => expect(server.calls).toHaveLength(calls));
  const record = async () =>
    (await house.call('executions.get', { params: { ...planted.params, executionId } })).data;
  return { ...planted, executionId, record };
}

it('a run that holds a schema ends with the time of one call of its model', async () => {
  await boot();
  const { createCounter, record, history } = await plantHolding();
  // Waits for the hold, and does not fail.
  await createCounter('after');
  await vi.waitFor(async () => expect(await record()).toMatchObject({ state: 'failed' }));
  expect(await record()).toMatchObject({ error: { code: 'deadline_exceeded' } });
  expect(await history()).toMatchObject([{ status: 'failed', error: { code: 'deadline_exceeded' } }]);
  expect(server.calls).toHaveLength(2);
});

it('a hold is not prolonged by another owner', async () => {
  // It lasts until the test says otherwise.
  await boot({ callMs: 600_000 });
  const { createCounter, record, executionId } = await plantHolding();
  const holds = async () =>
    (await database.pool.query('select holds from runtime.runs where id = $1', [executionId])).rows[0].holds;
  const { until } = await holds();
  await running.pop()?.[Symbol.asyncDispose]();
  await database.pool.query(
    `update runtime.runs set holds = jsonb_set(holds, '{until}', to_jsonb($2::bigint)) where id = $1`,
    [executionId, until + 600_000],
  );
  await boot();
  await vi.waitFor(() => expect(server.calls).toHaveLength(3));
  expect((await holds()).until).toBe(until + 600_000);
  await running.pop()?.[Symbol.asyncDispose]();
  await database.pool.query(
    `update runtime.runs set holds = jsonb_set(holds, '{until}', to_jsonb($2::bigint)) where id = $1`,
    [executionId, Date.now() - 1],
  );
  await boot();
  await createCounter('after');
  await vi.waitFor(async () =>
    expect(await record()).toMatchObject({ error: { code: 'deadline_exceeded' } }),
  );
  expect(server.calls).toHaveLength(3);
});

it('a hold ends with the time of one call also while its partition is about to move', async () => {
  const { context } = await boot({ leaseTtlMs: 600_000 });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  onTestFinished(() => end());
  const onFirst = (id: number) => {
    const partition = id % 64;
    // Other work outside that the move waits for.
    void context.outside.during(partition, () => ended);
    context.outside.setMoving([partition]);
  };
  const { createCounter, record } = await plantHolding({ onFirst, calls: 1 });
  await vi.waitFor(async () => expect(await record()).toMatchObject({ state: 'failed' }));
  expect(await record()).toMatchObject({ error: { code: 'deadline_exceeded' } });
  await createCounter('after');
  expect(server.calls).toHaveLength(1);
});
