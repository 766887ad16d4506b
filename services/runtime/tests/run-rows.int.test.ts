import { ServiceError } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { startRunSweep } from '../src/store/runs/run-store.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { createDeciderDouble } from './decider-double.js';
import { codeOf, plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const decider = createDeciderDouble();
let database: Database<unknown>;
const query = async (sql: string, values: unknown[] = []) => (await database.pool.query(sql, values)).rows;

house.catalog.plantVersion({
  event: 'judge',
  versionId: 80,
  behaviorPrompt: 'Judge.',
  inputSchema: { id: 'string' },
  stateChanges: { counter: 'partial' },
  readEntities: [{ schema: 'counter', filter: ['id'] }],
});
const bindings = ['increment', 'judge'].map((event) => ({ event, eventVersion: 1 }));

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  const options = { url: house.databaseUrl, schema: 'public', applicationName: 'test', logger };
  database = house.resources.use('looking on', await connect(options));
});

const running: AsyncDisposable[] = [];
const boot = async () => {
  running.push(await house.boot({ decider: decider.decider }));
};
const stop = async () => {
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
};
afterEach(stop);

const ASKED = {
  event: 'judge',
  input: { id: 'x' },
  trigger: 'admin',
  walletAddress: null,
  caller: { kind: 'account', accountId: 1, scopes: [] },
  asynchronous: true,
};
const INSERT = `insert into runtime.runs (id, deployment_id, state, request, request_hash, deadline, created_at, ended_at)
  select gen_random_uuid(), $1, $2, '${JSON.stringify(ASKED)}', '', now() + interval '1 hour', now(), $3 from generate_series(1, $4)`;

it('a deployment has at most 1,000 open runs', async () => {
  await boot();
  const { deployment, execute } = await plantDeployment(house, { bindings });
  await stop();
  await query(INSERT, [deployment.id, 'deciding', null, 999]);
  await boot();
  const headers = { prefer: 'respond-async' };
  expect((await execute({ id: 'a' }, { headers }, 'judge')).data).toMatchObject({ state: 'running' });
  const { answer } = await decider.called();
  expect(await codeOf(execute({ id: 'b' }, { headers }))).toBe('overloaded');
  expect((await execute({ id: 'b' })).data).toMatchObject({ seq: 2 });
  answer({});
  await vi.waitFor(async () => expect((await execute({ id: 'b' }, { headers })).data).toBeDefined());
  for (let others = 999; others > 0; others -= 1) await decider.called();
  await query('delete from runtime.runs where deployment_id = $1', [deployment.id]);
});

it('a run that fails while the catalog is away leaves its reason in its row', async () => {
  await boot();
  const { execute, history, deployment } = await plantDeployment(house, { bindings });
  const { handlers } = house.catalog;
  const confirm = handlers['definitions.confirm'];
  const call = execute({ id: 'a' }, {}, 'judge');
  const { fail } = await decider.called();
  handlers['definitions.confirm'] = () => Promise.reject(new ServiceError('unavailable'));
  fail(new ServiceError('ai_output_invalid', 'No JSON.'));
  expect(await codeOf(call)).toBe('ai_output_invalid');
  handlers['definitions.confirm'] = confirm;
  expect(await history()).toEqual([]);
  const rows = await query('select state, error from runtime.runs where deployment_id = $1', [deployment.id]);
  expect(rows).toMatchObject([{ state: 'failed', error: { code: 'ai_output_invalid', detail: 'No JSON.' } }]);
});

it('an ended run can be looked up for a day, and is deleted an hour later', async () => {
  await boot();
  const { deployment } = await plantDeployment(house, { bindings });
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 60 * 60 * 1000 - 1000);
  await query(INSERT, [deployment.id, 'failed', hoursAgo(24), 1]);
  await query(INSERT, [deployment.id, 'failed', hoursAgo(25), 3500]);
  const left = () => query('select ended_at from runtime.runs where deployment_id = $1', [deployment.id]);
  const logger = createLogger({ service: 'test', level: 'error' });
  const options = { url: house.databaseUrl, schema: 'runtime', applicationName: 'sweep', logger };
  await using own = await connect<RuntimeSchema>(options);
  // Its time stands still, so all of it is one sweep.
  const sweep = startRunSweep(own.db, { clock: new FakeClock(Date.now()), logger, intervalMs: 60_000 });
  await vi.waitFor(async () => expect(await left()).toHaveLength(1));
  await sweep.stop();
  expect(Number((await left())[0].ended_at)).toBeGreaterThan(Number(hoursAgo(24.5)));
});

it('an Idempotency-Key can be used again once it has expired', async () => {
  await boot();
  const { execute, counter } = await plantDeployment(house, { bindings });
  const headers = { 'idempotency-key': 'again' };
  const first = await execute({ id: 'a' }, { headers });
  expect(await execute({ id: 'a' }, { headers })).toEqual(first);
  await stop();
  const table = 'runtime.idempotency_keys';
  await query(
    `update ${table} set created_at = created_at - interval '24 hours 1 second' where key = 'again'`,
  );
  await boot();
  expect((await execute({ id: 'a' }, { headers })).data).toMatchObject({ seq: 3 });
  expect(await counter('a')).toMatchObject({ state: { count: 2 } });
});
