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

it('at most 100 executions of an account wait for a model; another one is refused and leaves nothing', async () => {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
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
  await using _runtime = await house.boot({ models: [model], aiDeadlineMs: 600_000 });
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
  answer();
  await Promise.all(all);
  expect((await keyed(refused[0] ?? 0)).data).toMatchObject({ seq: 103 });
  expect(await history({ status: 'succeeded', limit: '100' })).toHaveLength(100);
  expect(await history({ status: 'failed' })).toEqual([]);
});
