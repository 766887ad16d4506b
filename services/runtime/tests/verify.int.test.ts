import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { snapshotHasher } from '../src/store/journal/past-states.js';
import { verifyJournal } from '../src/store/journal/verify/verify-journal.js';
import { openRuntimeDatabase, type PlantedDeployment, plantDeployment } from './journal-fixture.js';

const db = await openRuntimeDatabase();
const verify = (deployment: PlantedDeployment, from = 1, limit = 100_000) =>
  verifyJournal(
    db,
    deployment,
    { from, limit },
    { signal: new AbortController().signal, isEnough: () => false },
  );
const valid = (entries: number, next: number | null = null) => ({
  valid: true,
  entries,
  firstDivergence: null,
  next,
});

/** 12 entries: H1 in all of them, H2 created, changed, deleted and made again. */
async function plantRace() {
  const race = await plantDeployment(db);
  for (let lap = 1; lap <= 6; lap++) {
    await race.write('H1', { wins: lap, tags: { b: 1, a: [lap] } });
    await race.write('H2', lap === 3 ? null : { wins: lap });
  }
  return race;
}

test('an untouched journal is valid, in whole and in any range', async () => {
  const race = await plantRace();
  expect(await verify(race)).toEqual(valid(12));
  expect(await verify(race, 5)).toEqual(valid(8));
  expect(await verify(race, 3, 4)).toEqual(valid(4, 7));
  expect(await verify(race, 12)).toEqual(valid(1));
  expect(await verify(race, 13)).toEqual(valid(0));
});

test('ranges follow one another to the end', async () => {
  const race = await plantRace();
  const seen: number[] = [];
  for (let from: number | null = 1; from !== null; ) {
    const part = await verify(race, from, 5);
    seen.push(part.entries);
    from = part.next;
  }
  expect(seen).toEqual([5, 5, 2]);
});

test('kept states let a range begin far into the journal', async () => {
  const race = await plantDeployment(db);
  for (let lap = 1; lap <= 230; lap++) await race.write('H1', { wins: lap });
  expect(await verify(race, 1)).toEqual(valid(230));
  expect(await verify(race, 225)).toEqual(valid(6));
});

/** A clone that began with H1 and H2, of which it changed H1. */
async function plantClone() {
  const begun = { H1: { wins: 41, name: 'Bolt' }, H2: { wins: 7 } };
  const hasher = snapshotHasher();
  for (const [instanceId, state] of Object.entries(begun))
    hasher.add({ entitySchema: 'horse', instanceId, state });
  const source = { address: `0x${'11'.repeat(20)}`, seq: 9, snapshotHash: hasher.digest() };
  const clone = await plantDeployment(db, source);
  for (const [instanceId, state] of Object.entries(begun)) await clone.begin(instanceId, state);
  await clone.write('H1', { wins: 42 });
  return clone;
}

test("a clone's copied instances are where its fold begins", async () => {
  const clone = await plantClone();
  expect(await verify(clone)).toEqual(valid(1));
  expect(await verify({ ...clone, source: null })).toMatchObject({
    firstDivergence: { seq: 1, what: 'broken_link' },
  });
});

/** Where the part of a verification begins that compares the instances. */
const INSTANCES = 100_000_000_000_000;

test('after the last entry a verification goes on through the instances', async () => {
  const race = await plantDeployment(db);
  for (let horse = 1; horse <= 25; horse++) await race.write(`H${horse}`, { wins: horse });
  const parts: object[] = [];
  for (let from: number | null = 1; from !== null; ) {
    const part = await verify(race, from, 10);
    parts.push([part.entries, part.next]);
    from = part.next;
  }
  expect(parts).toEqual([
    [10, 11],
    [10, 21],
    [5, INSTANCES + 5],
    [0, INSTANCES + 15],
    [0, INSTANCES + 25],
    [0, null],
  ]);
  await sql`update instances set state = '{"wins":3}' where deployment_id = ${race.id} and id = 20`.execute(
    db,
  );
  expect(await verify(race, INSTANCES + 5, 10)).toEqual(valid(0, INSTANCES + 15));
  expect(await verify(race, INSTANCES + 15, 10)).toEqual({
    valid: false,
    entries: 0,
    firstDivergence: { seq: 25, what: 'instance_differs', instance: 'horse:H20' },
    next: null,
  });
});

test('short of time it goes on through the instances page by page', async () => {
  const race = await plantDeployment(db);
  for (let horse = 1; horse <= 80; horse++) await race.write(`H${horse}`, { wins: horse });
  const inHaste = { signal: new AbortController().signal, isEnough: () => true };
  const first = await verifyJournal(db, race, { from: 81, limit: 1000 }, inHaste);
  expect(first).toEqual(valid(0, INSTANCES + 50));
  expect(await verifyJournal(db, race, { from: INSTANCES + 50, limit: 1000 }, inHaste)).toEqual(valid(0));
});

test('what lies beyond what decisions can be checked of yet is asked for again', async () => {
  const race = await plantRace();
  const counts = { rerun: 0, notRerun: {} } as never;
  const untilFifth = () => ({ until: 5, counts, check: async () => undefined });
  const range = { from: 50, limit: 10 };
  const bounds = { signal: new AbortController().signal, isEnough: () => false };
  expect(await verifyJournal(db, race, range, bounds, untilFifth)).toMatchObject(valid(0, 50));
});

test('rows that share an id are compared in the same call', async () => {
  const race = await plantRace();
  const addTwin = sql`
    insert into instances select id, deployment_id, 'horse', 'TWIN', state, 1, created_at, updated_at
    from instances where deployment_id = ${race.id} and instance_id = 'H1'`;
  await addTwin.execute(db);
  expect(await verify(race, 13, 1)).toMatchObject({
    firstDivergence: { what: 'instance_differs', instance: 'horse:TWIN' },
  });
});

/** Rows of something added beside the history. */
const addedRow = (id: number, rowId = 99) =>
  sql`insert into instances values (${rowId}, ${id}, 'horse', 'GHOST', '{"wins":1}', 1, now(), now())`;
const addedKeptState = (id: number, seq: number) =>
  sql`insert into kept_states values (${id}, 'horse', 'GHOST', ${seq}, 1, '{"wins":1}')`;
const addedIndex = (id: number, name: string, seq: number) =>
  sql`insert into instance_changes values (${id}, 'horse', ${name}, ${seq})`;
const tampered = (seq: number, what: string, instance?: string) => ({
  seq,
  what,
  ...(instance && { instance: `horse:${instance}` }),
});

test.each<[string, (id: number) => ReturnType<typeof sql>[], object]>([
  ['an instance row was added', (id) => [addedRow(id)], tampered(12, 'instance_differs', 'GHOST')],
  [
    'one was added with an id below all',
    (id) => [addedRow(id, -5)],
    tampered(12, 'instance_differs', 'GHOST'),
  ],
  [
    'one was added with a state that it began with',
    (id) => [addedRow(id), addedKeptState(id, 0)],
    tampered(12, 'snapshot_differs'),
  ],
  [
    'one was added with a kept state and an index row of an entry',
    (id) => [addedRow(id), addedKeptState(id, 5), addedIndex(id, 'GHOST', 5)],
    tampered(12, 'kept_state_differs', 'GHOST'),
  ],
  [
    'a kept state was removed',
    (id) => [sql`delete from kept_states where deployment_id = ${id} and seq = 6`],
    tampered(6, 'kept_state_differs', 'H2'),
  ],
  [
    'a kept state was added',
    (id) => [sql`insert into kept_states values (${id}, 'horse', 'H1', 7, 4, '{}')`],
    tampered(7, 'kept_state_differs', 'H1'),
  ],
  [
    'an index row was removed',
    (id) => [sql`delete from instance_changes where deployment_id = ${id} and seq = 9`],
    tampered(9, 'change_index_differs', 'H1'),
  ],
  ['an index row was added', (id) => [addedIndex(id, 'H2', 9)], tampered(9, 'change_index_differs', 'H2')],
  [
    'an index row was added behind the last entry, and the row changed',
    (id) => [
      addedIndex(id, 'H1', 13),
      sql`update instances set state = '{}' where deployment_id = ${id} and instance_id = 'H1'`,
    ],
    tampered(12, 'change_index_differs', 'H1'),
  ],
  [
    'the last entry was removed and the head set back',
    (id) => [
      sql`delete from journal where deployment_id = ${id} and seq = 12`,
      sql`update journal_heads set seq = 11, totals = totals || '{"entries":11}',
        hash = (select hash from journal where deployment_id = ${id} and seq = 11) where deployment_id = ${id}`,
    ],
    tampered(11, 'change_index_differs', 'H2'),
  ],
  [
    'the counter of the entries was changed',
    (id) => [sql`update journal_heads set totals = '{"entries":13}' where deployment_id = ${id}`],
    tampered(12, 'head_differs'),
  ],
])('%s: what stands beside the history is found', async (_what, tamper, divergence) => {
  const race = await plantRace();
  for (const statement of tamper(race.id)) await statement.execute(db);
  expect(await verify(race)).toMatchObject({ valid: false, firstDivergence: divergence, next: null });
});

test.each<[string, (id: number) => ReturnType<typeof sql>, object]>([
  [
    'an unchanged instance row was changed',
    (id) => sql`update instances set state = '{}' where deployment_id = ${id} and instance_id = 'H2'`,
    tampered(1, 'instance_differs', 'H2'),
  ],
  [
    'an unchanged instance row was removed',
    (id) => sql`delete from instances where deployment_id = ${id} and instance_id = 'H2'`,
    tampered(1, 'instance_differs', 'H2'),
  ],
  [
    'a state of the snapshot was changed, with its row',
    (id) => sql`with row as (
      update instances set state = '{}' where deployment_id = ${id} and instance_id = 'H2' returning 1)
      update kept_states set state = '{}' where deployment_id = ${id} and instance_id = 'H2'`,
    tampered(1, 'snapshot_differs'),
  ],
  [
    'an instance of the snapshot was removed, with its row',
    (
      id,
    ) => sql`with row as (delete from instances where deployment_id = ${id} and instance_id = 'H2' returning 1)
      delete from kept_states where deployment_id = ${id} and instance_id = 'H2'`,
    tampered(1, 'snapshot_differs'),
  ],
])("of a clone's beginning %s", async (_what, tamper, divergence) => {
  const clone = await plantClone();
  expect(await verify(clone)).toEqual(valid(1));
  await tamper(clone.id).execute(db);
  expect(await verify(clone)).toMatchObject({ valid: false, firstDivergence: divergence });
});

test.each<[string, (id: number) => ReturnType<typeof sql>, object]>([
  [
    'an input was changed',
    (id) => sql`update journal set input = '{"lap":99}' where deployment_id = ${id} and seq = 7`,
    { seq: 7, what: 'wrong_hash' },
  ],
  [
    'a member was added to a change',
    (id) =>
      sql`update journal set changes = jsonb_set(changes, '{0,more}', '1') where deployment_id = ${id} and seq = 7`,
    { seq: 7, what: 'wrong_hash' },
  ],
  [
    'the changes are no list any more',
    (id) => sql`update journal set changes = '{}' where deployment_id = ${id} and seq = 7`,
    { seq: 7, what: 'wrong_hash' },
  ],
  [
    'a caller was changed',
    (id) => sql`update journal set caller = 'account:8' where deployment_id = ${id} and seq = 7`,
    { seq: 7, what: 'wrong_hash' },
  ],
  [
    'an id was changed',
    (id) => sql`update journal set id = ${randomUUID()} where deployment_id = ${id} and seq = 7`,
    { seq: 7, what: 'wrong_hash' },
  ],
  [
    'a hash was changed',
    (id) => sql`update journal set hash = repeat('0', 64) where deployment_id = ${id} and seq = 7`,
    { seq: 7, what: 'wrong_hash' },
  ],
  [
    'a link was changed',
    (id) => sql`update journal set prev_hash = repeat('0', 64) where deployment_id = ${id} and seq = 7`,
    { seq: 7, what: 'broken_link' },
  ],
  [
    'an entry was removed',
    (id) => sql`delete from journal where deployment_id = ${id} and seq = 7`,
    { seq: 7, what: 'missing_entry' },
  ],
  [
    'the last entry was removed',
    (id) => sql`delete from journal where deployment_id = ${id} and seq = 12`,
    { seq: 12, what: 'missing_entry' },
  ],
  [
    'the head was changed',
    (id) => sql`update journal_heads set hash = repeat('0', 64) where deployment_id = ${id}`,
    { seq: 12, what: 'head_differs' },
  ],
  [
    "an instance's row was changed",
    (id) => sql`update instances set state = '{"wins":7}' where deployment_id = ${id} and instance_id = 'H1'`,
    { seq: 11, what: 'instance_differs', instance: 'horse:H1' },
  ],
  [
    "an instance's revision was changed",
    (id) => sql`update instances set revision = 7 where deployment_id = ${id} and instance_id = 'H2'`,
    { seq: 12, what: 'instance_differs', instance: 'horse:H2' },
  ],
  [
    "an instance's row was removed",
    (id) => sql`delete from instances where deployment_id = ${id} and instance_id = 'H2'`,
    { seq: 12, what: 'instance_differs', instance: 'horse:H2' },
  ],
  [
    'a kept state was changed',
    (id) => sql`update kept_states set state = '{}' where deployment_id = ${id} and seq = 6`,
    { seq: 6, what: 'kept_state_differs', instance: 'horse:H2' },
  ],
])('%s: the divergence is found where it is', async (_what, tamper, divergence) => {
  const race = await plantRace();
  await tamper(race.id).execute(db);
  expect(await verify(race)).toEqual({
    valid: false,
    entries: (divergence as { seq: number }).seq,
    firstDivergence: divergence,
    next: null,
  });
});

/** An entry that the chain covers, with one change that the checks of an execution would not make. */
const addChange = (race: PlantedDeployment, op: 'create' | 'update' | 'delete', revision: number) => {
  const set = { wins: revision };
  const change = { entitySchema: 'horse', instanceId: 'H1', op, set, unset: [], revision, state: set };
  return race.add({ changes: [change] as never });
};

test.each<['create' | 'update', number]>([
  ['update', 3],
  ['update', 1],
  ['create', 1],
  ['create', 2],
])('%s with revision %i cannot follow revision 1, whatever its hash', async (op, revision) => {
  const race = await plantDeployment(db);
  await race.write('H1', { wins: 1 });
  await addChange(race, op, revision);
  expect(await verify(race)).toMatchObject({
    valid: false,
    firstDivergence: { seq: 2, what: 'impossible_change', instance: 'horse:H1' },
  });
});

test('a change that cannot follow is found also by a range that begins after it', async () => {
  const race = await plantDeployment(db);
  await race.write('H1', { wins: 1 });
  await addChange(race, 'create', 1);
  await race.write('H1', { wins: 2 });
  expect(await verify(race, 3)).toMatchObject({
    valid: false,
    firstDivergence: { seq: 3, what: 'impossible_change' },
  });
});

test('the first of two divergences is reported', async () => {
  const race = await plantRace();
  await sql`update journal set caller = 'x' where deployment_id = ${race.id} and seq = 9`.execute(db);
  await sql`update kept_states set state = '{}' where deployment_id = ${race.id} and seq = 6`.execute(db);
  expect(await verify(race)).toMatchObject({ firstDivergence: { seq: 6 } });
});

test('one at a time per deployment, wherever they are asked for', async () => {
  const race = await plantRace();
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('runtime.verify.others', ${race.id}))`.execute(
      trx,
    );
    await expect(verify(race)).rejects.toMatchObject({ code: 'request_in_flight' });
  });
  expect(await verify(race)).toEqual(valid(12));
});

test('the owner verifies beside a stranger, and one at a time', async () => {
  const race = await plantRace();
  const bounds = { signal: new AbortController().signal, isEnough: () => false };
  const verifyAs = (isOwner: boolean, during = async () => {}) =>
    verifyJournal(db, { ...race, isOwner }, { from: 1, limit: 100 }, bounds, () => ({
      until: 12,
      counts: { rerun: 0, notRerun: {} },
      check: async () => {
        await during();
        return undefined;
      },
    }));
  const refused = { code: 'request_in_flight' };
  const outcome = verifyAs(false, async () => {
    await expect(verifyAs(false)).rejects.toMatchObject(refused);
    const ofOwner = verifyAs(true, () => expect(verifyAs(true)).rejects.toMatchObject(refused));
    expect(await ofOwner).toMatchObject(valid(12));
  });
  expect(await outcome).toMatchObject(valid(12));
});

test('whoever stops waiting stops the work', async () => {
  const race = await plantRace();
  const gone = verifyJournal(
    db,
    race,
    { from: 1, limit: 10 },
    {
      signal: AbortSignal.abort(new Error('gone')),
      isEnough: () => false,
    },
  );
  await expect(gone).rejects.toThrow('gone');
});

test('short of time it answers how far it came', async () => {
  const race = await plantDeployment(db);
  for (let lap = 1; lap <= 40; lap++) await race.write('H1', { wins: lap });
  const signal = new AbortController().signal;
  const first = await verifyJournal(db, race, { from: 1, limit: 100 }, { signal, isEnough: () => true });
  expect(first).toEqual(valid(16, 17));
  expect(await verify(race, 17)).toEqual(valid(24));
});

test('entries of both versions are one chain, and what version 2 adds is covered', async () => {
  const race = await plantDeployment(db);
  await race.write('H1', { wins: 1 }, { v: 1 });
  await race.write('H1', { wins: 2 });
  await race.write('H1', { wins: 3 }, { recorded: { cause: { seq: 2, index: 0 }, depth: 1 } });
  await race.write('H1', { wins: 4 }, { v: 1 });
  expect(await verify(race)).toEqual(valid(4));
  const broken = (seq: number) => ({ firstDivergence: { seq, what: 'wrong_hash' } });
  for (const [seq, change, back] of [
    [1, 'evaluator = 1', 'evaluator = null'],
    [2, 'evaluator = 2', 'evaluator = 1'],
    [2, 'decided_at = null', 'decided_at = executed_at'],
    [3, `recorded = recorded || '{"depth":2}'`, `recorded = recorded || '{"depth":1}'`],
    [3, `recorded = recorded || '{"timers":[]}'`, `recorded = recorded - 'timers'`],
  ] as const) {
    const set = (columns: string) =>
      sql.raw(`update journal set ${columns} where deployment_id = ${race.id} and seq = ${seq}`).execute(db);
    await set(change);
    expect(await verify(race), change).toMatchObject(broken(seq));
    await set(back);
    expect(await verify(race), back).toEqual(valid(4));
  }
});
