import { type JournalFact, type JsonObject, JsonText, journalEntry, journalKind } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type EntryMessage, Unpublished } from '../src/lane/publication/unpublished.js';
import type { Batch } from '../src/store/commit/batch.js';
import type { CommitBatch } from '../src/store/commit/commit-statement.js';
import { loadFacts } from '../src/store/journal/journal-store.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { createDeciderDouble } from './decider-double.js';
import { attribute } from './fake-catalog.js';
import { rememberDeployment } from './lose-tail.js';
import { modelNamed } from './model-double.js';
import { codeOf, type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
const decider = createDeciderDouble();
let database: Database<RuntimeSchema>;
const running: AsyncDisposable[] = [];
let told: JournalFact[] = [];
const toldOf = (address: string) => told.filter(({ deployment }) => deployment === address);
const boot = async (around: (commit: CommitBatch) => CommitBatch) => {
  // A budget needs prices.
  const models = [{ ...modelNamed('double', true), inputUsdPerMillionTokens: 1 }];
  running.push(await house.boot({ decider: decider.decider, aroundCommit: around, models }));
};

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  const place = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
  database = house.resources.use('looking on', await connect<RuntimeSchema>(place));
  const listening = new AbortController();
  house.resources.add('facts', () => listening.abort());
  const handle = async (fact: JournalFact) => {
    told.push(fact);
  };
  await house.bus.consume(journalEntry, { consumer: 'test', handle, signal: listening.signal });
  house.catalog.plantSchema('thing', [attribute('any', 'json'), attribute('gone', 'string')]);
  house.catalog.plantVersion({
    event: 'judge',
    versionId: 80,
    behaviorPrompt: 'Judge.',
    inputSchema: { any: 'json' },
    stateChanges: { thing: 'partial' },
  });
  house.catalog.plantVersion({
    event: 'breaks',
    versionId: 81,
    inputSchema: {},
    mutationSettings: { mode: 'direct', template: { 'thing:x': { any: '{{ input.none }}' } } },
  });
  house.catalog.plantVersion({
    event: 'draws',
    versionId: 82,
    inputSchema: {},
    mutationSettings: { mode: 'direct', template: { 'thing:x': { any: '{{ random.float() }}' } } },
  });
});
beforeEach(() => {
  told = [];
});
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
});

/** What JSON and PostgreSQL may each write in their own way. */
const PECULIAR: JsonObject = {
  b: [1e21, 1e-7, 0.1, 5e-324, 1.7976931348623157e308, 123456789012345680000, true, null],
  a: { 'é\u2028': '\ud83d\ude80 "\\', '': null, ab: [], aa: {} },
};

/** Leaves entries of every kind that a lane can leave. */
async function leaveEveryKind(): Promise<void> {
  const pushed = { targetChains: ['base-sepolia'], onchain: { stateChanges: ['any'] } };
  const bindings = [
    { event: 'judge', eventVersion: 1, ...pushed },
    { event: 'breaks', eventVersion: 1, targetChains: ['base-sepolia'] },
    { event: 'draws', eventVersion: 1 },
  ];
  const { call } = house;
  const { params, execute } = await plantDeployment(house, { bindings });
  const instance = { params: { ...params, instanceId: 'é "1"' } };
  const state = { any: PECULIAR, gone: 'soon' };
  await call('instances.create', {
    params,
    body: { entitySchema: 'thing', instanceId: 'é "1"', state },
  });
  await call('instances.update', { ...instance, body: { state: { any: null } } });
  await call('instances.delete', instance);
  const answer = execute({ any: PECULIAR }, {}, 'judge');
  const evidence = { llm: { model: 'double' }, llmHash: 'c'.repeat(64), attestation: PECULIAR };
  (await decider.called()).answer({ stateChanges: { 'thing:x': state }, result: PECULIAR }, evidence);
  await answer;
  expect(await codeOf(execute({}, {}, 'breaks'))).toBe('template_failed');
  const added = [{ event: 'increment', eventVersion: 1, targetChains: ['base-sepolia'] }];
  await call('bindings.add', { params, body: added });
  await execute({ id: 'n' });
  await call('bindings.update', { params, body: [{ event: 'increment', targetChains: [] }] });
  await execute({ id: 'n' });
  await call('deployments.execute', {
    params,
    body: { event: 'increment', input: { id: 'n' }, after: 'PT1H' },
  });
  const [timer] = (await call('timers.list', { params })).data;
  await call('timers.cancel', { params: { ...params, timerId: timer?.timerId } });
  await execute({}, {}, 'draws');
  await call('deployments.revealRandomness', { params });
  await call('bindings.remove', { params, query: { event: 'breaks' } });
  await call('deployments.update', { params, body: { description: 'é', aiDailyBudgetUsd: 0.1 } });
  for (const action of ['publish', 'unpublish', 'pause', 'resume', 'lock'] as const)
    await call(`deployments.${action}`, { params });
  await call('deployments.delete', { params: (await plantDeployment(house)).params });
  const losing = await plantDeployment(house);
  const goBack = await rememberDeployment(database.pool, losing.deployment.id);
  await losing.execute({ id: 'lost' });
  await goBack();
  await losing.execute({ id: 'n' });
}

/** As consumers get it. */
const carried = (payload: EntryMessage['payload']): JournalFact =>
  JSON.parse(payload instanceof JsonText ? payload.text : JSON.stringify(payload));

describe('a fact', () => {
  it('says the same from memory as from the journal, whatever it tells', async () => {
    const batches: Batch[] = [];
    const refused = new Set<Batch>();
    await boot((commit) => async (batch) => {
      batches.push(batch);
      const outcome = await commit(batch);
      if (outcome.kind === 'refused') refused.add(batch);
      return outcome;
    });
    await leaveEveryKind();
    const read = vi.fn(async () => []);
    const unpublished = new Unpublished(read, systemClock);
    for (const batch of batches) if (!refused.has(batch)) unpublished.committed(batch);
    const { messages } = await unpublished.oldest(1000, []);
    const remembered = messages.map(({ payload }) => carried(payload));
    expect(read).not.toHaveBeenCalled();
    const loaded = await loadFacts(database.db, messages);
    const factAt = ({ deploymentId, seq }: EntryMessage) =>
      loaded.find((one) => one.deploymentId === deploymentId && one.seq === seq)?.fact;
    expect(remembered).toStrictEqual(messages.map((message) => carried(factAt(message) as JournalFact)));
    const inLanes = journalKind.options.filter((kind) => kind !== 'deployment_created');
    expect(new Set(remembered.map(({ kind }) => kind))).toEqual(new Set(inLanes));
    expect(remembered).toContainEqual(expect.objectContaining({ status: 'failed', binding: null }));
    expect(remembered).toContainEqual(
      expect.objectContaining({
        attestation: PECULIAR,
        llmHash: 'c'.repeat(64),
        binding: { targetChains: ['base-sepolia'], onchain: { stateChanges: ['any'] } },
      }),
    );
  });

  it('of what was committed here is not read back, also when the answer was lost', async () => {
    let losing = false;
    await boot((commit) => async (batch) => {
      const outcome = await commit(batch);
      const ids = batch.entries.map(({ entry }) => entry.id);
      await database.pool.query(`update runtime.journal set event = 'read back' where id = any($1)`, [ids]);
      if (losing) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      return outcome;
    });
    const { execute, deployment } = await plantDeployment(house);
    for (const isLost of [false, true]) {
      losing = isLost;
      told = [];
      for (const id of ['a', 'b', 'c']) await execute({ id });
      await vi.waitFor(() =>
        expect(toldOf(deployment.address)).toContainEqual(expect.objectContaining({ event: 'increment' })),
      );
    }
  });

  it('is told of each entry that the journal has and of no other, whatever became of the answers', async () => {
    let commits = 0;
    await boot((commit) => async (batch) => {
      commits += 1;
      const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      if (commits % 4 === 0) throw lost;
      const outcome = await commit(batch);
      if (commits % 4 === 2) throw lost;
      return outcome;
    });
    const { execute, deployment } = await plantDeployment(house);
    for (const round of [1, 2, 3, 4, 5, 6])
      await Promise.all(['a', 'b'].map((id) => execute({ id: `${id}${round}` })));
    const range = { deployment: deployment.address, after: 0, limit: 100 };
    const { entries } = await house.ask('journal.range', range);
    expect(commits).toBeGreaterThan(6);
    await vi.waitFor(() => expect(toldOf(deployment.address)).toStrictEqual(entries));
    expect(entries).toHaveLength(13);
  });
});
