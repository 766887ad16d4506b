import { jsonb } from '@orrery/database';
import type { Insertable, Updateable } from 'kysely';
import type { Trx } from '../database/db.js';
import type { RuntimeTables } from '../database/schema.js';
import type { RunEffect } from '../state/open-run.js';

type Columns = Updateable<RuntimeTables['runs']>;

const JSON_COLUMNS = ['request', 'holds', 'basis', 'proposal', 'reply', 'error'] as const;

/** Inserting again does nothing: an item whose commit was lost is decided anew. A run that has ended never changes. */
export async function writeRun(trx: Trx, { id, write }: RunEffect): Promise<void> {
  if ('insert' in write) {
    // Every column that the row needs is still there.
    const values = asJson(write.insert) as Insertable<RuntimeTables['runs']>;
    await trx
      .insertInto('runs')
      .values(values)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    return;
  }
  await trx
    .updateTable('runs')
    .set(asJson(write.update))
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}

function asJson(columns: Columns): Columns {
  const written = JSON_COLUMNS.flatMap((column) => {
    const value = columns[column];
    return value === undefined || value === null ? [] : [[column, jsonb(value)]];
  });
  return { ...columns, ...(Object.fromEntries(written) as Columns) };
}
