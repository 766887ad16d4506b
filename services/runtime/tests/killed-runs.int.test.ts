import { once } from 'node:events';
import { connect, type Database } from '@orrery/database';
import type { RuntimeDependencies } from '@orrery/runtime';
import { createLogger, systemClock } from '@orrery/service-kit';
import { type ModelCall, says, startModelServer } from '@orrery/testing/model-server';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createModelDecider } from '../src/runs/asking/model-decider.js';
import { modelNamed } from './model-double.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
house.catalog.plantVersion({
  event: 'judge',
  versionId: 80,
  behaviorPrompt: 'Judge.',
  inputSchema: { id: 'string' },
  stateChanges: { counter: 'partial' },
  readEntities: [{ schema: 'counter', filter: ['id'] }],
});
let database: Database<unknown>;
const server = await startModelServer({
  behaves: says({ stateChanges: { 'counter:a': { count: 4 } }, result: null }),
});
const models = [{ ...modelNamed('large', true), baseUrl: server.baseUrl }];
beforeAll(async () => {
  const options = { url: house.databaseUrl, schema: 'public', applicationName: 'test', logger };
  database = house.resources.use('looking on', await connect(options));
});
beforeEach(() => server.reset());
const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one[Symbol.asyncDispose]();
});
afterAll(() => server[Symbol.asyncDispose]());

const query = async <Row>(text: string, values: unknown[] = []) =>
  (await database.pool.query(text, values)).rows as Row[];

/** When the first owner dies: nothing that it begins to commit from then on is written. */
type Moment = 'before the call' | 'during the call' | 'after the answer was stored' | 'before the commit';

type Written = Parameters<Parameters<NonNullable<RuntimeDependencies['aroundCommit']>>[0]>[0];

const stores = ({ runs }: Written, state: string) =>
  [...runs.values()].some(({ columns }) => columns.state === state);
const isOutcome = ({ entries }: Written) => entries.some(({ entry }) => entry.event === 'judge');

/** A runtime that dies at a moment of its first run; `died` resolves then, and `bury` lets it end. */
async function bootMortal(moment: Moment) {
  const death = signalOnce();
  const burial = signalOnce();
  const asks = createModelDecider({ clock: systemClock, logger, callsPerDeployment: 100 });
  const runtime = await house.boot({
    models,
    decider: async (request, signal) => {
      if (moment === 'before the call') death.give();
      if (death.isGiven()) await burial.given;
      return asks(request, signal);
    },
    aroundCommit: (commit) => async (batch) => {
      if (moment === 'before the commit' && isOutcome(batch)) death.give();
      if (death.isGiven()) await burial.given;
      const outcome = await commit(batch);
      if (moment === 'after the answer was stored' && stores(batch, 'decided')) death.give();
      return outcome;
    },
  });
  return { runtime, died: death.given, die: death.give, bury: burial.give };
}

function signalOnce() {
  let isGiven = false;
  let resolve = () => {};
  const given = new Promise<void>((done) => {
    resolve = done;
  });
  const give = () => {
    isGiven = true;
    resolve();
  };
  return { given, give, isGiven: () => isGiven };
}

it.each<[Moment, number]>([
  ['before the call', 1],
  ['during the call', 2],
  ['after the answer was stored', 1],
  ['before the commit', 1],
])('a runtime that is killed %s leaves a run that takes %i calls in all', async (moment, calls) => {
  const mortal = await bootMortal(moment);
  running.push({ [Symbol.asyncDispose]: async () => mortal.bury() }, mortal.runtime);
  const { execute, counter, history, verify } = await plantDeployment(house, {
    bindings: [{ event: 'judge', eventVersion: 1 }],
  });
  const hang = async ({ gone }: ModelCall) => {
    mortal.die();
    await once(gone, 'abort');
  };
  if (moment === 'during the call') server.plan(hang);
  const answer = execute({ id: 'a' }, {}, 'judge');
  await mortal.died;
  // A dead process takes no partition again.
  void mortal.runtime.leases.stop();
  await query('delete from runtime.members where instance = $1', [mortal.runtime.instance]);
  await query('update runtime.partitions set owner = null, expires_at = null');
  running.push(await house.boot({ models }));
  await vi.waitFor(async () => expect(await history()).toHaveLength(1));
  expect(server.calls).toHaveLength(calls);
  mortal.bury();
  expect((await answer).data).toMatchObject({ stateChanges: { 'counter:a': { count: 4 } } });
  expect(await counter('a')).toMatchObject({ state: { count: 4 }, revision: 1 });
  expect(await verify()).toMatchObject({ valid: true });
});
