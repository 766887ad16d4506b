import { createHash, createHmac } from 'node:crypto';
import { canonicalHash, type HistoryEntry, type JsonObject } from '@orrery/contracts';
import { withClient } from '@orrery/testing/servers';
import { afterEach, expect, it } from 'vitest';
import { startBeacon } from './beacon-server.js';
import { codeOf, plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const beacon = house.resources.use('beacon', await startBeacon());
const drand = { visibility: 'admin' as const, randomness: 'drand' as const };
house.catalog.plantVersion({
  event: 'roll',
  versionId: 95,
  mutationSettings: {
    mode: 'direct',
    template: { 'counter:{{ input.id }}': { count: '{{ random.int(1, 1000000) }}' } },
  },
  executionSettings: drand,
});
house.catalog.plantVersion({
  event: 'plain',
  versionId: 96,
  mutationSettings: { mode: 'direct', template: { result: { drawn: false } } },
  executionSettings: drand,
});
const BINDINGS = ['roll', 'plain'].map((event) => ({ event, eventVersion: 1 }));
const plant = () => plantDeployment(house, { bindings: BINDINGS });
type Planted = Awaited<ReturnType<typeof plant>>;
const entriesOf = async ({ history }: Planted): Promise<HistoryEntry[]> =>
  (await history({ include: 'all' })).reverse();

const running: AsyncDisposable[] = [];
const boot = async (options: Parameters<typeof house.boot>[0] = {}) => {
  const runtime = await house.boot({ beacon: beacon.config, randomnessKeys: [], ...options });
  running.push(runtime);
  return runtime;
};
afterEach(async () => {
  beacon.state.mode = 'on';
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
});

/** The round in the row of a run, and when the row was written. */
const rowOf = (run: string) =>
  withClient(house.databaseUrl, async (client) => {
    const { rows } = await client.query(
      `select (request->'round'->>'number')::integer as round, created_at from runtime.runs where id = $1`,
      [run],
    );
    return rows[0] as { round: number; created_at: Date };
  });
const signedAt = (round: number) => (beacon.info.genesis_time + (round - 1) * beacon.info.period) * 1000;

it('draws from a round that is fixed before it is signed, which a stranger verifies', async () => {
  await boot();
  const planted = await plant();
  await planted.execute({ id: 'a' }, {}, 'roll');
  const entries = await entriesOf(planted);
  const [entry] = entries.slice(-1);
  const { run = '', round = 0, signature = '', seed = '' } = entry?.randomness ?? {};
  expect(entry?.randomness).toMatchObject({ source: 'drand', chain: beacon.config.chainHash });
  const row = await rowOf(run);
  expect(row.round).toBe(round);
  expect(signedAt(round)).toBeGreaterThan(row.created_at.getTime());
  expect(beacon.state.asked).toContain(round);
  const secret = createHash('sha256').update(Buffer.from(signature, 'hex')).digest();
  expect(
    createHmac('sha256', secret)
      .update(`${run}${canonicalHash({ id: 'a' })}`)
      .digest('hex'),
  ).toBe(seed);
  const draw = createHmac('sha256', Buffer.from(seed, 'hex')).update(Buffer.alloc(8)).digest();
  expect(entry?.changes[0]?.set['count']).toBe(Number(draw.readBigUInt64BE(0) % 1_000_000n) + 1);
  // It needs no secret of the deployment.
  expect(entries.map(({ kind }) => kind)).not.toContain('randomness_committed');
  const check = { params: planted.params, query: { decisions: 'true' } };
  expect((await house.call('history.verify', check)).data).toMatchObject({
    valid: true,
    decisions: { rerun: 1, notRerun: {}, seeds: { checked: 1, notChecked: {} } },
  });
});

it('asks once for a round that many runs wait for, and never for what draws nothing', async () => {
  await boot();
  const planted = await plant();
  beacon.state.asked.length = 0;
  await planted.execute({}, {}, 'plain');
  expect(beacon.state.asked).toEqual([]);
  await Promise.all(['a', 'b', 'c', 'd'].map((id) => planted.execute({ id }, {}, 'roll')));
  expect(new Set(beacon.state.asked).size).toBe(beacon.state.asked.length);
  const seeds = (await entriesOf(planted)).flatMap(({ randomness }) => randomness?.seed ?? []);
  expect(new Set(seeds).size).toBe(4);
});

it('a dry run waits for nothing', async () => {
  await boot();
  const planted = await plant();
  beacon.state.mode = 'away';
  const { data } = await planted.execute({ id: 'a' }, { query: { dryRun: 'true' } }, 'roll');
  expect(data).toMatchObject({ dryRun: true });
});

/** A deployment of a runtime that knows the beacon. A busy machine may need more time for its first execution. */
async function plantWithin(aiDeadlineMs: number): Promise<Planted> {
  const runtime = await boot({ aiDeadlineMs });
  const planted = await plant();
  const drawing = planted.execute({ id: 'a' }, {}, 'roll');
  if (await drawing.catch(() => undefined)) return planted;
  running.splice(running.indexOf(runtime), 1);
  await runtime[Symbol.asyncDispose]();
  return plantWithin(2 * aiDeadlineMs);
}

it.each(['away', 'lying'] as const)('fails at the deadline while the beacon is %s', async (mode) => {
  const planted = await plantWithin(4000);
  beacon.state.mode = mode;
  expect(await codeOf(planted.execute({ id: 'a' }, {}, 'roll'))).toBe('randomness_unavailable');
  const [entry] = (await entriesOf(planted)).slice(-1);
  expect(entry).toMatchObject({ status: 'failed', error: { code: 'randomness_unavailable' }, changes: [] });
  expect(entry?.randomness).toBeUndefined();
});

it('goes on with the round of its row when the beacon is back, under another owner too', async () => {
  const first = await boot();
  const planted = await plant();
  await planted.execute({ id: 'a' }, {}, 'roll');
  beacon.state.mode = 'away';
  const headers = { prefer: 'respond-async' };
  const answer = (await planted.execute({ id: 'b' }, { headers }, 'roll')) as { data: JsonObject };
  const { executionId } = answer.data as { executionId: string };
  const { round } = await rowOf(executionId);
  await first[Symbol.asyncDispose]();
  running.length = 0;
  beacon.state.mode = 'on';
  await boot();
  await expect
    .poll(async () => (await entriesOf(planted)).at(-1)?.randomness)
    .toMatchObject({ source: 'drand', run: executionId, round });
});

it('refuses a server of another chain', async () => {
  await boot({ beacon: { ...beacon.config, chainHash: 'c'.repeat(64) } });
  const planted = await plant();
  expect(await codeOf(planted.execute({ id: 'a' }, {}, 'roll'))).toBe('randomness_unavailable');
  expect((await entriesOf(planted)).map(({ kind }) => kind)).toEqual(['deployment_created']);
});
