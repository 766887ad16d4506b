import { once } from 'node:events';
import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { type Profile, says, startModelServer } from '@orrery/testing/model-server';
import { afterAll, expect, it, vi } from 'vitest';
import { MAX_WAITING } from '../src/runs/asking/call-limits.js';
import { judgeVersion } from './fake-catalog.js';
import { modelNamed } from './model-double.js';
import { plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
house.catalog.plantVersion({ ...judgeVersion, event: 'judge', versionId: 80 });
const hangs: Profile = async ({ gone }) => {
  if (!gone.aborted) await once(gone, 'abort');
};
const server = await startModelServer();
afterAll(() => server[Symbol.asyncDispose]());
const logger = createLogger({ service: 'test', level: 'error' });
const options = { url: house.databaseUrl, schema: 'public', applicationName: 'test', logger };
const database = house.resources.use('looking on', await connect(options));
const runs = async () =>
  Number((await database.pool.query('select count(*) from runtime.runs')).rows[0].count);

/** A model that answers one call at a time, and none before the test says so. */
async function bootSlow() {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  server.behave(async (call) => {
    await Promise.race([answered, hangs(call)]);
    await says({ stateChanges: {}, result: null })(call);
  });
  const model = {
    ...modelNamed('slow', true),
    baseUrl: server.baseUrl,
    maxConcurrency: 1,
    timeoutMs: 600_000,
  };
  const runtime = await house.boot({ models: [model], aiDeadlineMs: 600_000 });
  return { answer, [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose]() };
}

it('at most 100 executions of an account wait for a model; another one is refused and leaves nothing', async () => {
  await using slow = await bootSlow();
  const { params, history } = await plantDeployment(house, {
    bindings: [{ event: 'judge', eventVersion: 1 }],
  });
  const keyed = (index: number) =>
    house.call(
      'deployments.execute',
      {
        params,
        headers: { 'idempotency-key': `k${index}` },
        body: { event: 'judge', input: { id: `c${index}` } },
      },
      { patience: 110_000 },
    );
  const refused: number[] = [];
  const all = Array.from({ length: 1 + MAX_WAITING + 49 }, (_, index) =>
    keyed(index).catch(({ code }) => {
      expect(code).toBe('too_many_waiting');
      refused.push(index);
    }),
  );
  await vi.waitFor(() => expect(refused).toHaveLength(49));
  const before = await runs();
  expect(await refusalOf(keyed(999))).toMatchObject({
    code: 'too_many_waiting',
    facts: { modelId: 'slow', limit: 100 },
  });
  expect(await runs()).toBe(before);
  expect([server.calls.length, await history()]).toEqual([1, []]);
  slow.answer();
  await Promise.all(all);
  expect((await keyed(refused[0] ?? 0)).data).toMatchObject({ seq: 103 });
  expect(await history({ status: 'succeeded', limit: '100' })).toHaveLength(100);
  expect(await history({ status: 'failed' })).toEqual([]);
});

it('timers beyond them stay pending without a run each, and are executed once the model answers', async () => {
  const count = 1 + MAX_WAITING + 49;
  await using slow = await bootSlow();
  const judging = await plantDeployment(house, { bindings: [{ event: 'judge', eventVersion: 1 }] });
  const counting = await plantDeployment(house);
  const later = ({ params }: typeof judging, event: string, index: number, after: string) =>
    house.call('deployments.execute', { params, body: { event, input: { id: `c${index}` }, after } });
  await Promise.all(Array.from({ length: count }, (_, index) => later(judging, 'judge', index, 'PT1H')));
  const { id } = judging.deployment;
  const ofTimers = async (condition: string) => {
    const sql = `select count(*) from runtime.timers where deployment_id = $1 and ${condition}`;
    return Number((await database.pool.query(sql, [id])).rows[0].count);
  };
  for (const table of ['timers set due_at', 'timer_heads set next_due'])
    await database.pool.query(`update runtime.${table} = now() where deployment_id = $1`, [id]);
  await vi.waitFor(async () => expect(await ofTimers('run_id is null')).toBe(49));
  const before = await runs();
  // Timers of another deployment show that the process looks for what is due, again and again.
  for (let time = 1; time <= 4; time += 1) {
    await later(counting, 'increment', 0, 'PT1S');
    await vi.waitFor(async () => expect(await counting.history()).toHaveLength(time));
  }
  expect(await runs()).toBe(before);
  slow.answer();
  const ended = async (status: string) =>
    (await house.call('history.list', { params: judging.params, query: { status } })).pagination.total;
  await vi.waitFor(async () => expect(await ofTimers('true')).toBe(0), { timeout: 60_000 });
  expect([await ended('succeeded'), await ended('failed')]).toEqual([count, 0]);
});
