import { transaction } from '@orrery/database';
import { sql } from 'kysely';
import type { Db } from '../../tables/schema.js';
import { keysOf } from './carried-rows.js';
import { REPLICATED } from './moved-tables.js';

/** Deployments whose rows are looked for at once, and rows that one statement deletes. */
const DEPLOYMENTS = 200;
const ROWS = 10_000;

/**
 * Deletes what a database has of deployments of a partition that is not in it: what a move left behind, or brought in vain.
 * Whoever stops in between does it again. `onDeleted` gets the number of rows of each step.
 */
export async function deleteRows(
  db: Db,
  partition: number,
  ids: readonly number[],
  onDeleted: (rows: number) => void = () => undefined,
): Promise<void> {
  for (let first = 0; first < ids.length; first += DEPLOYMENTS) {
    const some = ids.slice(first, first + DEPLOYMENTS);
    await inSteps(
      db,
      'indexed_values',
      sql`index_id in (select id from attribute_indexes where deployment_id = any(${some}))`,
      onDeleted,
    );
    for (const table of ['attribute_indexes', ...REPLICATED])
      await inSteps(db, table, sql`deployment_id = any(${some})`, onDeleted);
  }
  await inSteps(db, 'idempotency_keys', keysOf(partition), onDeleted);
  await inSteps(db, 'outbox', sql`shard = ${partition}`, onDeleted);
}

async function inSteps(
  db: Db,
  table: string,
  condition: ReturnType<typeof keysOf>,
  onDeleted: (rows: number) => void,
): Promise<void> {
  for (let deleted = ROWS; deleted === ROWS; ) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where ${condition} limit ${ROWS}))`.execute(db);
    deleted = Number(numAffectedRows ?? 0);
    if (deleted > 0) onDeleted(deleted);
  }
}

/** The deployments of a partition in the database from which it moves, those that left too. */
export async function deploymentsOf(source: Db, partition: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from deployments where id % 64 = ${partition} union
    select id from departed_deployments where id % 64 = ${partition} order by 1`.execute(source);
  return rows.map(({ id }) => id);
}

/** Deletes what says which deployments left, and how far their occurrences were acknowledged: last, as the rest is found by it. */
export async function deleteDeparted(source: Db, partition: number): Promise<void> {
  await sql`
    with gone as (delete from departed_deployments where id % 64 = ${partition} returning row->>'address' as address)
    delete from acknowledged_occurrences where deployment in (select address from gone)`.execute(source);
}

/** Deployments that came in vain. The lock waits for a mover that lets them arrive, whose rows a statement before does not see. */
export async function deleteArrived(target: Db, partition: number): Promise<void> {
  await transaction(target, async (trx) => {
    await sql`select from partitions where id = ${partition} for update`.execute(trx);
    await sql`
      update partitions set generation = 0, owner = null, expires_at = null, epoch = epoch + 1
      where id = ${partition} and generation > 0`.execute(trx);
    await sql`delete from deployments where id % 64 = ${partition}`.execute(trx);
  });
}
