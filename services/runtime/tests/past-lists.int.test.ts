import { type InstanceRecord, type JsonObject, MAX_LIMIT } from '@orrery/contracts';
import { createSemaphore, FairSlots, systemClock } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { instanceAt, instancesAt } from '../src/store/deployments/past-instances.js';
import { beginLifetimes, createLifetimes, instancesThen } from '../src/store/journal/lifetimes.js';
import { readPast } from '../src/store/journal/verify/verify-journal.js';
import { openRuntimeDatabase, type PlantedDeployment, plantDeployment } from './journal-fixture.js';

const db = await openRuntimeDatabase();
const { signal } = new AbortController();
const computeLifetimes = createLifetimes(db);
const dependencies = { db, computeLifetimes, reading: createSemaphore(8) };

const pageAt = ({ id }: PlantedDeployment, seq: number, page = { page: 1, limit: MAX_LIMIT }) =>
  instancesAt(dependencies, id, { entitySchema: undefined, seq, page }, signal);
const briefly = (records: readonly InstanceRecord[]) =>
  records.map(({ instanceId, state }) => [instanceId, state]);

type Present = [instanceId: string, state: JsonObject][];

/** A story in which instances come, change, go and come again; what was there after each entry, oldest first. */
async function plantStory(race: PlantedDeployment, begun: Present, laps: number) {
  const past: Present[] = [begun];
  for (let lap = 1; lap <= laps; lap++) {
    const present = past.at(-1) ?? [];
    const id = `H${(lap * lap + lap * 3) % 17}`;
    const found = present.findIndex(([one]) => one === id);
    const state = found >= 0 && lap % 3 === 0 ? null : { wins: lap };
    await race.write(id, state);
    if (state === null) past.push(present.filter((_, index) => index !== found));
    else if (found < 0) past.push([...present, [id, state]]);
    else past.push(present.with(found, [id, state]));
    // Computed in steps of different sizes, as readers come.
    if (lap % 23 === 0) await pageAt(race, lap - (lap % 5));
  }
  return past;
}

test('a list is what it was then, in order of creation, through deletions and new creations', async () => {
  const race = await plantDeployment(db);
  const past = await plantStory(race, [], 180);
  expect(new Set(past.map((present) => present.length)).size).toBeGreaterThan(5);
  for (const [seq, present] of past.entries()) {
    if (seq === 0) continue;
    const { data, total } = await pageAt(race, seq);
    expect([seq, briefly(data), total]).toEqual([seq, present, present.length]);
  }
});

test('it has pages', async () => {
  const race = await plantDeployment(db);
  const past = await plantStory(race, [], 60);
  const present = past[50] ?? [];
  const pages = [];
  for (const page of [1, 2, 3, 4]) pages.push((await pageAt(race, 50, { page, limit: 3 })).data);
  expect(briefly(pages.flat())).toEqual(present.slice(0, 12));
  expect(await pageAt(race, 50, { page: 99, limit: 3 })).toEqual({ data: [], total: present.length });
});

test('it begins with the instances of a clone, in their order', async () => {
  const clone = await plantDeployment(db, {
    address: `0x${'11'.repeat(20)}`,
    seq: 9,
    snapshotHash: 'b'.repeat(64),
  });
  const begun: Present = ['Z', 'H4', 'A'].map((id) => [id, { wins: 7 }]);
  for (const [id, state] of begun) await clone.begin(id, state);
  await db.transaction().execute((trx) => beginLifetimes(trx, clone.id));
  await clone.write('H4', { wins: 8 });
  expect(briefly((await pageAt(clone, 1)).data)).toEqual([begun[0], ['H4', { wins: 8 }], begun[2]]);
  await clone.write('Z', null);
  await clone.write('Z', { wins: 1 });
  expect((await pageAt(clone, 2)).total).toBe(2);
  expect((await pageAt(clone, 3)).data.map(({ instanceId }) => instanceId)).toEqual(['H4', 'A', 'Z']);
  expect((await pageAt(clone, 1)).data.map(({ instanceId }) => instanceId)).toEqual(['Z', 'H4', 'A']);
});

test('it shows the instances of a clone that was made before there were lifetimes, those that are gone last', async () => {
  const clone = await plantDeployment(db, {
    address: `0x${'11'.repeat(20)}`,
    seq: 9,
    snapshotHash: 'b'.repeat(64),
  });
  for (const id of ['Z', 'H4', 'A']) await clone.begin(id, { wins: 7 });
  await clone.write('Z', null);
  expect((await pageAt(clone, 1)).data.map(({ instanceId }) => instanceId)).toEqual(['H4', 'A']);
  const before = await instancesThen(db, clone.id, 0, undefined, { page: 1, limit: 9 });
  expect(before.names.map(({ instanceId }) => instanceId)).toEqual(['H4', 'A', 'Z']);
});

test('every record is that of the single instance', async () => {
  const race = await plantDeployment(db);
  await plantStory(race, [], 130);
  const { data } = await pageAt(race, 127);
  for (const record of data) expect(await instanceAt(db, race.id, { ...record }, 127)).toEqual(record);
  expect(data.some(({ id }) => id > 0)).toBe(true);
});

test('many readers at once, while the journal grows, see what was there', async () => {
  const race = await plantDeployment(db);
  const past = await plantStory(race, [], 20);
  const growing = plantStory(await plantDeployment(db), [], 20);
  const lists = await Promise.all(Array.from({ length: 12 }, () => pageAt(race, 19)));
  for (const { data } of lists) expect(briefly(data)).toEqual(past[19]);
  await growing;
});

test('a seq that the journal has not reached is refused', async () => {
  const race = await plantDeployment(db);
  await race.write('H1', { wins: 1 });
  await expect(pageAt(race, 2)).rejects.toMatchObject({
    code: 'entity_instance_not_found',
    message: 'The journal ends at 1.',
  });
});

/** Three entries: H1 begins, changes and ends. */
const plantThree = async (): Promise<PlantedDeployment> => {
  const race = await plantDeployment(db);
  for (const state of [{ wins: 1 }, { wins: 2 }, null]) await race.write('H1', state);
  return race;
};
const changed = (id: number, seq: number, changes: string) =>
  sql`update journal set changes = ${sql.raw(changes)} where deployment_id = ${id} and seq = ${seq}`;
const reading = { db, clock: systemClock, verifying: new FairSlots(1) };
const bounds = { signal, deadline: Date.now() + 600_000 };

interface Tampering {
  readonly tamper: (id: number) => ReturnType<typeof sql>;
  readonly divergence: object;
  /** Whether the lifetimes are those of the journal as it was before. */
  readonly isComputed: boolean;
}

test.each<[string, Tampering]>([
  [
    'a creation became a change',
    {
      tamper: (id) => changed(id, 1, `jsonb_set(changes, '{0,op}', '"update"')`),
      divergence: { seq: 1, what: 'wrong_hash' },
      isComputed: true,
    },
  ],
  [
    'a change became a second creation',
    {
      tamper: (id) => changed(id, 2, `jsonb_set(changes, '{0,op}', '"create"')`),
      divergence: { seq: 2, what: 'wrong_hash' },
      isComputed: false,
    },
  ],
  [
    'changes are no list',
    {
      tamper: (id) => changed(id, 2, `'{}'`),
      divergence: { seq: 2, what: 'wrong_hash' },
      isComputed: false,
    },
  ],
  [
    'an index row was removed',
    {
      tamper: (id) => sql`delete from instance_changes where deployment_id = ${id} and seq = 1`,
      divergence: { seq: 1, what: 'change_index_differs', instance: 'horse:H1' },
      isComputed: false,
    },
  ],
])('%s: the past names the entry at which the history does not hold', async (_what, tampering) => {
  const race = await plantThree();
  if (tampering.isComputed) await pageAt(race, 2);
  await tampering.tamper(race.id).execute(db);
  const broken = { code: 'history_broken', facts: { atSeq: 2, divergence: tampering.divergence } };
  await expect(readPast(reading, race, 2, bounds, () => pageAt(race, 2))).rejects.toMatchObject(broken);
  const one = { entitySchema: 'horse', instanceId: 'H1' };
  await expect(
    readPast(reading, race, 2, bounds, () => instanceAt(db, race.id, one, 2)),
  ).rejects.toMatchObject(broken);
});

test('while another process verifies, the past says up to which entry the break is', async () => {
  const race = await plantThree();
  await changed(race.id, 2, `'{}'`).execute(db);
  await verifyingElsewhere(race, () =>
    expect(readPast(reading, race, 2, bounds, () => pageAt(race, 2))).rejects.toMatchObject({
      code: 'history_broken',
      message: expect.stringContaining('somewhere up to entry 2'),
    }),
  );
});

/** As long as `run` takes another process verifies the same deployment for who is not its owner. */
const verifyingElsewhere = ({ id }: PlantedDeployment, run: () => Promise<unknown>) =>
  db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('runtime.verify.others', ${id}))`.execute(trx);
    await run();
  });

test('lifetimes are computed once, also after the reader has gone', async () => {
  const race = await plantDeployment(db);
  for (const wins of [1, 2, 3]) await race.write(`H${wins}`, { wins });
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(computeLifetimes(race.id, { seq: 3, head: 3 }, gone)).rejects.toThrow('gone');
  await pageAt(race, 2);
  await sql`update journal set changes = '[]' where deployment_id = ${race.id}`.execute(db);
  const { rows } = await sql`select from lifetimes where deployment_id = ${race.id}`.execute(db);
  expect(rows).toHaveLength(3);
});

test('what is read grows with the instances that were there, not with those that ever were', async () => {
  const race = await plantDeployment(db);
  await sql`
    insert into lifetimes (deployment_id, created_seq, place, entity_schema, instance_id, deleted_seq)
    select ${race.id}, n, 1, 'horse', 'H' || n, n + 2 from generate_series(1, 20000) n`.execute(db);
  await sql`analyze lifetimes`.execute(db);
  const read = await db.transaction().execute(async (trx) => {
    const rowsRead = async () => {
      const { rows } = await sql<{ n: number }>`
        select seq_tup_read + idx_tup_fetch as n from pg_stat_xact_user_tables where relname = 'lifetimes'`.execute(
        trx,
      );
      return Number(rows[0]?.n);
    };
    const before = await rowsRead();
    const { total } = await instancesThen(trx, race.id, 15_000, 'horse', { page: 1, limit: 20 });
    expect(total).toBe(2);
    return (await rowsRead()) - before;
  });
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(50);
});
