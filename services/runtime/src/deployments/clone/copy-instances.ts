import { sql } from 'kysely';
import type { Trx } from '../../database/db.js';
import { IDS_PER_BLOCK } from '../../ids/id-blocks.js';
import { snapshotAt } from '../../journal/snapshot.js';
import type { CloneSource } from './clone-source.js';

/** Rows of one insert when the past is copied. */
const AT_ONCE = 200;

/**
 * Copies the instances of a clone's source: kept states of seq 0, from which its past is read, and from those its rows,
 * each at revision 1. Answers how many.
 */
export async function copyInstances(
  trx: Trx,
  source: CloneSource,
  target: { id: number; at: Date },
): Promise<number> {
  if (source.seq === undefined) await keepCurrent(trx, source.id, target.id);
  else await keepPast(trx, source.id, source.seq, target.id);
  return insertKept(trx, source.id, target);
}

const keepCurrent = (trx: Trx, sourceId: number, targetId: number) =>
  sql`
    insert into kept_states (deployment_id, entity_schema, instance_id, seq, revision, state)
    select ${targetId}, entity_schema, instance_id, 0, 1, state
    from instances where deployment_id = ${sourceId}`.execute(trx);

async function keepPast(trx: Trx, sourceId: number, seq: number, targetId: number): Promise<void> {
  let rows: object[] = [];
  const flush = async () => {
    await sql`
      insert into kept_states (deployment_id, entity_schema, instance_id, seq, revision, state)
      select ${targetId}, "entitySchema", "instanceId", 0, 1, state
      from jsonb_to_recordset(cast(${JSON.stringify(rows)} as jsonb))
        as n ("entitySchema" text, "instanceId" text, state jsonb)`.execute(trx);
    rows = [];
  };
  for await (const instance of snapshotAt(trx, sourceId, seq)) {
    if (rows.push(instance) === AT_ONCE) await flush();
  }
  if (rows.length > 0) await flush();
}

/** Lists show the copies in the order of their originals. */
async function insertKept(trx: Trx, sourceId: number, { id, at }: { id: number; at: Date }): Promise<number> {
  const { numAffectedRows } = await sql`
    with copies as (
      select k.entity_schema, k.instance_id, k.state,
        row_number() over (order by i.id, k.entity_schema, k.instance_id) - 1 as place
      from kept_states k
      left join instances i on i.deployment_id = ${sourceId}
        and i.entity_schema = k.entity_schema and i.instance_id = k.instance_id
      where k.deployment_id = ${id}
    ), taken as materialized (
      select nextval('id_blocks') as block
      from generate_series(1, (select (count(*) + ${IDS_PER_BLOCK - 1}) / ${IDS_PER_BLOCK} from copies))
    ), blocks as (
      select (block - 1) * ${IDS_PER_BLOCK} + 1 as first, row_number() over (order by block) - 1 as place from taken
    )
    insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
    select b.first + c.place % ${IDS_PER_BLOCK}, ${id}, c.entity_schema, c.instance_id, c.state, 1, ${at}, ${at}
    from copies c join blocks b on b.place = c.place / ${IDS_PER_BLOCK}`.execute(trx);
  return Number(numAffectedRows ?? 0);
}
