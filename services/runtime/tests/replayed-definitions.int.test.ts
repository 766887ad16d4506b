import type { AttributeDefinition, HistoryEntry } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { beforeAll, expect, it } from 'vitest';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { createDeciderDouble } from './decider-double.js';
import { attribute } from './fake-catalog.js';
import { type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
const decider = createDeciderDouble();
let database: Database<RuntimeSchema>;
beforeAll(async () => {
  await house.boot({ decider: decider.decider });
  const logger = createLogger({ service: 'test', level: 'error' });
  const address = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
  database = house.resources.use('looking on', await connect<RuntimeSchema>(address));
});

const wins = attribute('wins', 'integer', { defaultValue: 0 });
const level = attribute('level', 'integer', { constraints: { required: true } });
const tier = attribute('tier', 'string', { defaultValue: 'low' });

let versions = 100;
/** A world as it is before a change: an event of its own, which wins by `by` and makes the horse where there is none. */
function plantRace() {
  versions += 1;
  const [versionId, event, schema] = [versions, `race_${versions}`, `horse_${versions}`];
  const plantSchema = (...attributes: AttributeDefinition[]) => house.catalog.plantSchema(schema, attributes);
  const plantVersion = (by: number) =>
    house.catalog.plantVersion({
      ...{ event, versionId },
      inputSchema: { horse: 'string' },
      readEntities: [{ schema, filter: ['horse'] }],
      stateChanges: { [schema]: 'partial' },
      mutationSettings: {
        mode: 'direct',
        template: {
          stateChanges: { [`${schema}:{{input.horse}}`]: { wins: { $increment: by } } },
          result: { seen: `{{ entities.${schema} }}` },
        },
      },
    });
  plantSchema(wins);
  plantVersion(1);
  return { event, schema, versionId, plantSchema, plantVersion };
}
type Race = ReturnType<typeof plantRace>;

/** Executions and written instances, in both of which horses are made. */
async function plantHistory({ event, schema }: Race) {
  const source = await plantDeployment(house, { bindings: [{ event, eventVersion: 1 }] });
  const { params } = source;
  const horse = { entitySchema: schema, instanceId: 'A', state: {} };
  await house.call('instances.create', { params, body: horse });
  await source.execute({ horse: 'A' }, {}, event);
  await source.execute({ horse: 'B' }, {}, event);
  await house.call('instances.update', {
    params: { ...params, instanceId: 'A' },
    body: { state: { wins: 7 } },
  });
  await source.execute({ horse: 'A' }, {}, event);
  return source;
}
type Deployed = Awaited<ReturnType<typeof plantHistory>>;

const entriesOf = async ({ history }: Deployed) => [...(await history({ include: 'all' }))].reverse();

const forkOf = ({ deployment }: Deployed, sourceSeq: number) =>
  plantDeployment(house, {
    ...{ name: 'What if', bindings: [], purpose: 'what_if' },
    ...{ sourceDeployment: deployment.address, sourceSeq },
  });

const replay = async ({ params }: Pick<Deployed, 'params'>, body: object) =>
  (await house.call('deployments.replay', { params, body })).data;

const endOf = ({ kind, status, versionHash, result, error, changes }: HistoryEntry) => ({
  ...{ kind, status, versionHash, result, error },
  changes: changes.map(({ revision: _, ...change }) => change),
});

it('without a change gives what was recorded, also across a new required attribute and a new default', async () => {
  const race = plantRace();
  const source = await plantHistory(race);
  race.plantSchema(wins, level, tier);
  race.plantVersion(10);
  const mapping = { level: 1 };
  const body = { entitySchema: race.schema, mapping };
  const { data: mapped } = await house.call('instances.map', { params: source.params, body });
  expect(mapped).toMatchObject({ mapped: 2 });
  await source.execute({ horse: 'A' }, {}, race.event);
  const entries = await entriesOf(source);
  const fork = await forkOf(source, 1);
  for (const original of entries.slice(1)) {
    const { outcome, entry, error } = await replay(fork, { seq: original.seq });
    expect([outcome, error]).toEqual([original.kind === 'execution' ? 'executed' : 'written', null]);
    expect(entry && endOf(entry)).toEqual(endOf(original));
  }
  const { data } = await house.call('history.verify', { params: fork.params, query: { decisions: 'true' } });
  expect(data).toMatchObject({ valid: true, decisions: { rerun: 4, notRerun: {} } });
});

it('executes a version that is named as it is now, and says why that does not end well', async () => {
  const race = plantRace();
  const source = await plantHistory(race);
  race.plantVersion(10);
  const fork = await forkOf(source, 2);
  const named = { seq: 3, eventVersion: 1 };
  expect((await replay(fork, named)).entry).toMatchObject({
    stateChanges: { [`${race.schema}:A`]: { wins: 10 } },
  });
  race.plantSchema(wins, level);
  race.plantVersion(10);
  expect((await replay(fork, named)).entry?.error).toMatchObject({
    code: 'invalid_state',
    detail: expect.stringContaining('level'),
  });
});

it('takes the definition of then where the catalog has the version no more, and that of now where none is kept', async () => {
  const race = plantRace();
  const source = await plantHistory(race);
  const [, , executed] = await entriesOf(source);
  const now = race.plantVersion(10);
  await database.pool.query('delete from definitions where hash = $1', [executed?.versionHash]);
  const forgetful = await forkOf(source, 2);
  expect((await replay(forgetful, { seq: 3 })).entry).toMatchObject({ versionHash: now.versionHash });
  const other = plantRace();
  const history = await plantHistory(other);
  const fork = await forkOf(history, 2);
  house.catalog.plantVersion({ event: 'of somebody else', versionId: other.versionId });
  expect(await replay(fork, { seq: 3 })).toMatchObject({ outcome: 'executed', error: null });
  expect(await replay(fork, { seq: 3, eventVersion: 1 })).toMatchObject({
    error: { code: 'unknown_event_version' },
  });
});

it('asks a model by the prompt of then', async () => {
  const plantJudge = (behaviorPrompt: string) =>
    house.catalog.plantVersion({ event: 'judge', versionId: 99, behaviorPrompt, stateChanges: {} });
  const { versionHash } = plantJudge('Judge gently.');
  const source = await plantDeployment(house, { bindings: [{ event: 'judge', eventVersion: 1 }] });
  const executing = source.execute({}, {}, 'judge');
  (await decider.calledBefore(executing)).answer({ stateChanges: {} });
  const { seq } = (await executing).data as { seq: number };
  plantJudge('Judge sternly.');
  const asking = replay(await forkOf(source, seq - 1), { seq });
  const call = await decider.calledBefore(asking);
  expect(call.request.definition.behaviorPrompt).toBe('Judge gently.');
  call.answer({ stateChanges: {} });
  expect((await asking).entry).toMatchObject({ status: 'succeeded', versionHash });
});
