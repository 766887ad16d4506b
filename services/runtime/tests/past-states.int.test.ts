import { type JsonObject, journalFact } from '@orrery/contracts';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { journalRange, loadFacts } from '../src/store/journal/journal-store.js';
import { pastStates, snapshotAt, snapshotHasher } from '../src/store/journal/past-states.js';
import { openRuntimeDatabase, type PlantedDeployment, plantDeployment } from './journal-fixture.js';

const db = await openRuntimeDatabase();
const horse = (instanceId: string) => ({ entitySchema: 'horse', instanceId });
const pastState = async (id: number, name: ReturnType<typeof horse>, seq: number) =>
  (await pastStates(db, id, [name], seq))[0] ?? null;

/** What the fold of every entry says, remembered while it was written. */
async function plantLong() {
  const race = await plantDeployment(db);
  const past: Record<string, JsonObject | null>[] = [{}];
  for (let lap = 1; lap <= 250; lap++) {
    const id = lap % 5 === 0 ? 'H2' : 'H1';
    const before = past.at(-1) ?? {};
    const state = lap % 60 === 0 ? null : { wins: lap, note: lap % 7 === 0 ? 'x' : 'y' };
    if (state === null && !before[id]) continue;
    await race.write(id, state);
    past.push({ ...before, [id]: state });
  }
  return { race, past };
}
const { race, past } = await plantLong();

test('the state after any entry is what it was then', async () => {
  for (const [seq, states] of past.entries()) {
    for (const id of ['H1', 'H2', 'H3']) {
      expect((await pastState(race.id, horse(id), seq))?.state ?? null).toEqual(states[id] ?? null);
    }
  }
});

test('it comes with the revision and the time of that change', async () => {
  expect(await pastState(race.id, horse('H1'), 3)).toEqual({
    state: { wins: 3, note: 'y' },
    revision: 3,
    changedAt: new Date(1_800_000_000_002),
  });
});

test('at a kept state it comes with the revision and the time of the change that the kept state follows', async () => {
  const long = await plantDeployment(db);
  for (let wins = 1; wins <= 101; wins++) await long.write('H1', { wins });
  expect(await pastState(long.id, horse('H1'), 100)).toEqual({
    state: { wins: 100 },
    revision: 100,
    changedAt: new Date(1_800_000_000_099),
  });
  expect(await pastState(long.id, horse('H1'), 101)).toMatchObject({ revision: 101 });
});

test('large states are folded in parts of some MiB, in the order of the names', async () => {
  const large = await plantDeployment(db);
  const ids = ['H1', 'H2', 'H3', 'H4'];
  for (let wins = 1; wins <= 60; wins++)
    for (const id of ids) await large.write(id, { wins, id, text: `${wins}`.padEnd(60_000, 'x') });
  const parts: number[] = [];
  const counting = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if ('changes' in (result.rows[0] ?? {})) parts.push(result.rows.length);
      return result;
    },
  });
  const names = ['H4', 'H9', 'H2', 'H1', 'H3'].map(horse);
  const states = await pastStates(counting, large.id, names, 239);
  expect(states.map((past) => past && [past.state['id'], past.state['wins'], past.revision])).toEqual([
    ['H4', 59, 59],
    null,
    ['H2', 60, 60],
    ['H1', 60, 60],
    ['H3', 60, 60],
  ]);
  // 3.4 MiB each.
  expect(parts).toEqual([3, 2]);
});

const snapshot = async (of: PlantedDeployment, seq: number) => {
  const found: Record<string, JsonObject> = {};
  for await (const { instanceId, state } of snapshotAt(db, of.id, seq)) found[instanceId] = state;
  return found;
};
const present = (states: Record<string, JsonObject | null> = {}) =>
  Object.fromEntries(Object.entries(states).filter(([, state]) => state !== null));

test('a snapshot holds every instance that there was', async () => {
  for (const seq of [0, 1, 59, 60, past.length - 1])
    expect(await snapshot(race, seq)).toEqual(present(past[seq]));
});

test('a snapshot goes through more instances than it folds at once, in the order of their bytes', async () => {
  const big = await plantDeployment(db);
  await big.begin('copied', { wins: 1 });
  const ids = Array.from({ length: 120 }, (_, n) => `${n % 2 === 0 ? 'h' : 'É'}${n}`);
  for (const id of ids) await big.write(id, { wins: 1 });
  expect(await pastState(big.id, horse('copied'), 0)).toMatchObject({ revision: 1, changedAt: null });
  const order: string[] = [];
  for await (const { instanceId } of snapshotAt(db, big.id, 1000)) order.push(instanceId);
  expect(order).toEqual(['copied', ...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
});

test("a snapshot's hash depends on every state, not on the order of their keys", () => {
  const hashOf = (...states: JsonObject[]) => {
    const hasher = snapshotHasher();
    for (const [n, state] of states.entries()) hasher.add({ ...horse(`H${n}`), state });
    return hasher.digest();
  };
  expect(hashOf({ a: 1, b: 2 }, {})).toBe(hashOf({ b: 2, a: 1 }, {}));
  expect(
    new Set([hashOf(), hashOf({}), hashOf({}, {}), hashOf({ a: 1 }, {}), hashOf({}, { a: 1 })]).size,
  ).toBe(5);
});

test('the range RPC answers facts in order, and how far the journal goes', async () => {
  const { entries, head } = await journalRange(db, { deployment: race.address, after: 10, limit: 70 });
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 70 }, (_, n) => 11 + n));
  expect(head).toBe(past.length - 1);
  expect(journalFact.strict().safeParse(entries[0])).toMatchObject({ success: true });
  await sql`update deployments set deleted_at = now() where id = ${race.id}`.execute(db);
  expect(
    (await journalRange(db, { deployment: race.address, after: head - 1, limit: 70 })).entries,
  ).toHaveLength(1);
  expect((await journalRange(db, { deployment: race.address, after: head, limit: 70 })).entries).toEqual([]);
});

test('a reply of the range RPC is bounded in bytes', async () => {
  const heavy = await plantDeployment(db);
  for (let n = 0; n < 70; n++) await heavy.add({ input: { text: 'x'.repeat(100 * 1024) } });
  const { entries, head } = await journalRange(db, { deployment: heavy.address, after: 0, limit: 500 });
  expect([entries.length, head]).toEqual([64, 70]);
});

test('an unknown deployment has no journal', async () => {
  const request = { deployment: `0x${'0'.repeat(40)}`, after: 0, limit: 1 };
  await expect(journalRange(db, request)).rejects.toMatchObject({ code: 'deployment_not_found' });
});

test('an entry is loaded by its place as it was sealed', async () => {
  const pushed = await plantDeployment(db);
  const binding = { targetChains: ['base-sepolia'], onchain: { stateChanges: ['wins'] } };
  await pushed.write('H1', { wins: 1 }, { pushes: binding });
  const [fact] = (await journalRange(db, { deployment: pushed.address, after: 0, limit: 1 })).entries;
  if (fact === undefined) throw new Error('no entry');
  const place = { deploymentId: pushed.id, seq: fact.seq };
  expect(await loadFacts(db, [place, { ...place, seq: 99 }])).toEqual([{ ...place, fact }]);
  expect(fact).toMatchObject({ binding, stateChanges: { 'horse:H1': { wins: 1 } } });
});
