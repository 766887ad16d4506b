import type { InstanceRecord, PageQuery } from '@orrery/contracts';
import { countUpTo, page } from '@orrery/database';
import type { Selectable } from 'kysely';
import type { Db } from '../database/db.js';
import type { RuntimeTables } from '../database/schema.js';
import { toRecord } from './instance-rules.js';

type Row = Selectable<RuntimeTables['instances']>;

/** What is shown of an instance. */
export type InstanceRow = Omit<Row, 'deployment_id'>;

export const recordOf = (row: InstanceRow): InstanceRecord =>
  toRecord(
    { entitySchema: row.entity_schema, instanceId: row.instance_id },
    {
      id: row.id,
      state: row.state,
      revision: row.revision,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    },
  );

/** Schemas that, as committed, have an instance of this key; at most as many as a deployment may bind. */
export async function schemasWith(db: Db, deploymentId: number, instanceId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('instances')
    .select('entity_schema')
    .where('deployment_id', '=', deploymentId)
    .where('instance_id', '=', instanceId)
    .orderBy('entity_schema')
    .limit(500)
    .execute();
  return rows.map(({ entity_schema }) => entity_schema);
}

/** A page in order of creation. The unfiltered total is a counter; of one schema it is counted up to 10,000. */
export async function listInstances(
  db: Db,
  deploymentId: number,
  entitySchema: string | undefined,
  query: PageQuery,
): Promise<{ rows: Row[]; total: number; isMinimum: boolean }> {
  const all = db.selectFrom('instances').where('deployment_id', '=', deploymentId);
  const some = entitySchema === undefined ? all : all.where('entity_schema', '=', entitySchema);
  const rows = await page(some.selectAll().orderBy('id'), query).execute();
  const counted = entitySchema === undefined ? await counter(db, deploymentId) : await countUpTo(db, some);
  return { rows, ...counted };
}

async function counter(db: Db, deploymentId: number): Promise<{ total: number; isMinimum: boolean }> {
  const head = await db
    .selectFrom('journal_heads')
    .select('totals')
    .where('deployment_id', '=', deploymentId)
    .executeTakeFirst();
  return { total: head?.totals['instances'] ?? 0, isMinimum: false };
}
