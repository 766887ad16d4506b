import type { InstanceChange, JsonObject } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Db } from '../database/db.js';
import { foldChange, type InstanceName } from './change.js';

/** An instance as it was after some entry. */
export interface PastState {
  state: JsonObject;
  revision: number;
  /** When the change that made it so was executed; null for a state that a clone began with. */
  changedAt: Date | null;
}

interface PastRow {
  /** `at` is null for a state that a clone began with. */
  checkpoint: { revision: number; state: JsonObject | null; at: string | null } | null;
  changes: InstanceChange[] | null;
  /** When the last of `changes` was executed. */
  changed_at: Date | null;
}

/**
 * The states that instances had after entry `seq`, in the order of `names`; null: absent then. Each starts at its last
 * checkpoint, so it folds at most 100 changes. Call it with a few dozen names at a time. Throws RangeError where the
 * journal contradicts itself.
 */
export async function pastStates(
  db: Db,
  deploymentId: number,
  names: readonly InstanceName[],
  seq: number,
): Promise<(PastState | null)[]> {
  if (names.length === 0) return [];
  const { rows } = await sql<PastRow>`
    select case when k.seq is not null then jsonb_build_object('revision', k.revision, 'state', k.state, 'at',
        (select executed_at from journal where deployment_id = ${deploymentId} and seq = k.seq)) end as checkpoint,
      c.changes, c.changed_at
    from rows from (unnest(${names.map(({ entitySchema }) => entitySchema)}::text[],
      ${names.map(({ instanceId }) => instanceId)}::text[])) with ordinality n (entity_schema, instance_id, position)
    left join lateral (
      select seq, revision, state from kept_states s
      where s.deployment_id = ${deploymentId} and s.entity_schema = n.entity_schema
        and s.instance_id = n.instance_id and s.seq <= ${seq}
      order by s.seq desc limit 1) k on true
    left join lateral (
      select json_agg(one.change order by j.seq) as changes,
        (array_agg(j.executed_at order by j.seq desc))[1] as changed_at
      from instance_changes i
      join journal j on j.deployment_id = i.deployment_id and j.seq = i.seq
      cross join lateral (
        select change from jsonb_array_elements(j.changes) change
        where change ->> 'entitySchema' = n.entity_schema and change ->> 'instanceId' = n.instance_id) one
      where i.deployment_id = ${deploymentId} and i.entity_schema = n.entity_schema
        and i.instance_id = n.instance_id and i.seq > coalesce(k.seq, -1) and i.seq <= ${seq}) c on true
    order by n.position`.execute(db);
  return rows.map(foldRow);
}

export async function pastState(
  db: Db,
  deploymentId: number,
  name: InstanceName,
  seq: number,
): Promise<PastState | null> {
  const [state] = await pastStates(db, deploymentId, [name], seq);
  return state ?? null;
}

function foldRow({ checkpoint, changes, changed_at }: PastRow): PastState | null {
  let state = checkpoint?.state ?? null;
  for (const change of changes ?? []) state = foldChange(state, change);
  const at = changed_at ?? checkpoint?.at ?? null;
  if (state === null) return null;
  return {
    state,
    revision: changes?.at(-1)?.revision ?? checkpoint?.revision ?? 1,
    changedAt: at === null ? null : new Date(at),
  };
}
