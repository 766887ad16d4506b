import { createSemaphore } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { instancesAt } from '../src/instances/past-instances.js';
import { createLifetimes } from '../src/journal/lifetimes.js';
import { openRuntimeDatabase, plantDeployment, type TestDb } from './journal-fixture.js';

const ENTRIES = 100_000;
const INSTANCES = 10_000;
/** Those that every second entry changes. */
const BUSY = 100;

const db = await openRuntimeDatabase();

/**
 * A journal without hashes: the first entries create 10,000 horses, the others change two horses each, one of them a busy
 * one with many changes since its last checkpoint.
 */
async function plantLongJournal(trx: TestDb, id: number): Promise<void> {
  const changed = sql`
    select seq, 'H' || n as instance_id from generate_series(1, ${ENTRIES}) seq
    cross join lateral (select (case when seq <= ${INSTANCES} then array[seq]
      else array[1 + (seq * 7919) % ${INSTANCES - BUSY}, ${INSTANCES - BUSY + 1} + seq % ${BUSY}] end)::bigint[] as horses) h
    cross join lateral unnest(horses) n`;
  await sql`
    create temp table horse_changes as
    select seq, instance_id, row_number() over (partition by instance_id order by seq)::integer as revision
    from (${changed}) c`.execute(trx);
  await sql`
    insert into journal (deployment_id, seq, id, v, kind, event, event_version, trigger, caller, status, input, changes,
      executed_at, prev_hash, hash)
    select ${id}, seq, gen_random_uuid(), 1, 'execution', 'race', 1, 'admin', 'account:7', 'succeeded', '{}',
      jsonb_agg(jsonb_build_object('entitySchema', 'horse', 'instanceId', instance_id, 'revision', revision,
        'op', case when revision = 1 then 'create' else 'update' end, 'unset', '[]'::jsonb,
        'set', jsonb_build_object('wins', seq, 'name', 'horse ' || instance_id))),
      now(), '', '' from horse_changes group by seq`.execute(trx);
  await sql`
    insert into instance_changes select ${id}, 'horse', instance_id, seq from horse_changes`.execute(trx);
  await sql`
    insert into kept_states select ${id}, 'horse', instance_id, seq, revision,
      jsonb_build_object('wins', seq, 'name', 'horse ' || instance_id)
    from horse_changes where revision % 100 = 0`.execute(trx);
  await sql`
    insert into journal_heads (deployment_id, seq, hash, totals) values (${id}, ${ENTRIES}, '', '{}')`.execute(
    trx,
  );
}

test('a page of 10,000 instances at any of 100,000 entries is read within 100 ms', async ({ annotate }) => {
  const { id } = await plantDeployment(db);
  await db.connection().execute((connection) => plantLongJournal(connection, id));
  await sql`analyze journal, instance_changes, kept_states`.execute(db);
  const dependencies = { db, computeLifetimes: createLifetimes(db), reading: createSemaphore(8) };
  const { signal } = new AbortController();
  const read = async (seq: number, page: number) => {
    const from = performance.now();
    const list = { entitySchema: undefined, seq, page: { page, limit: 100 } };
    const { data, total } = await instancesAt(dependencies, id, list, signal);
    expect([data.length, total]).toEqual([100, Math.min(seq, INSTANCES)]);
    return performance.now() - from;
  };
  const first = await read(ENTRIES, 1);
  const times: number[] = [];
  for (let n = 0; n < 60; n++)
    times.push(await read(INSTANCES + ((n * 7919) % (ENTRIES - INSTANCES)), 1 + ((n * 37) % 100)));
  // The page of the busy ones: each is folded from up to 99 changes.
  const busy: number[] = [];
  for (let n = 0; n < 20; n++) busy.push(await read(ENTRIES - n * 977, 100));
  const sorted = [...times, ...busy].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const busyMedian = busy.sort((a, b) => a - b)[10];
  await annotate(`first ${first}, median ${median}, slowest ${sorted.at(-1)}, of the busy ${busyMedian} ms`);
  expect(median).toBeLessThan(100);
}, 60_000);
