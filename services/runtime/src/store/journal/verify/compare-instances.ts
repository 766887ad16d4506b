import type { DeploymentSource, Divergence, JsonObject } from '@orrery/contracts';
import { changeKey, type InstanceName } from '@orrery/deciding';
import { sql } from 'kysely';
import type { Db } from '../../tables/schema.js';
import { type PastState, pastStates, snapshotHasher, snapshotHashOf } from '../past-states.js';
import { type FoldMemory, same } from './fold-groups.js';

/** When to stop: `signal` ends the work, `isEnough` ends the call with what has been checked so far. */
export interface VerifyBounds {
  signal: AbortSignal;
  isEnough(): boolean;
}

interface ComparedDeployment {
  readonly id: number;
  readonly source: DeploymentSource | null;
  /** The last entry: every instance is compared with the fold up to it. */
  readonly head: number;
}

/** `after`: the id of the last instance that an earlier call compared, 0 at the start; `limit`: instances at most. */
interface InstancePage {
  readonly after: number;
  readonly limit: number;
}

/** `last`: the id after which the next call continues; null when every instance was compared. */
type Compared = { readonly divergence: Divergence } | { readonly last: number | null };

/** Instances that one query reads and folds. */
const AT_ONCE = 50;

/**
 * Compares the deployment's instances, in the order of their ids, with the fold of the whole journal, and a clone's
 * kept states at seq 0 with its `snapshotHash` first. `memory` may hold states of the fold up to the last entry.
 */
export async function compareInstances(
  db: Db,
  deployment: ComparedDeployment,
  { after, limit }: InstancePage,
  { signal, isEnough }: VerifyBounds,
  memory: FoldMemory,
): Promise<Compared> {
  const atStart = after === 0 ? await checkSnapshot(db, deployment, signal) : undefined;
  if (atStart !== undefined) return { divergence: atStart };
  for (let last = after === 0 ? BEFORE_ALL : after, left = limit; ; ) {
    signal.throwIfAborted();
    const rows = await rowsAfter(db, deployment, last, Math.min(AT_ONCE, left));
    const divergence = await firstDifference(db, deployment, rows, memory);
    if (divergence !== undefined) return { divergence };
    if (rows.length < Math.min(AT_ONCE, left)) return { last: null };
    last = rows.at(-1)?.id ?? last;
    left -= rows.length;
    if (left <= 0 || isEnough()) return { last };
  }
}

/** Ids start at 1; a row with a smaller one is found too. */
const BEFORE_ALL = Number.MIN_SAFE_INTEGER;

/** What a clone began with: its kept states at seq 0 have the hash that its source names, and no other deployment has any. */
async function checkSnapshot(
  db: Db,
  { id, source, head }: ComparedDeployment,
  signal: AbortSignal,
): Promise<Divergence | undefined> {
  const hash = await snapshotHashOf(db, id, signal);
  const expected = source?.snapshotHash ?? snapshotHasher().digest();
  if (hash !== expected) return { seq: head, what: 'snapshot_differs' };
  const { rows } = await sql<InstanceName>`
    select entity_schema as "entitySchema", instance_id as "instanceId" from kept_states k where k.deployment_id = ${id} and k.seq = 0
      and not exists (select from instances i where i.deployment_id = k.deployment_id
        and i.entity_schema = k.entity_schema and i.instance_id = k.instance_id)
      and not exists (select from instance_changes c where c.deployment_id = k.deployment_id
        and c.entity_schema = k.entity_schema and c.instance_id = k.instance_id)
    order by entity_schema, instance_id limit 1`.execute(db);
  const [missing] = rows;
  return missing && { seq: head, what: 'instance_differs', instance: changeKey(missing) };
}

interface ComparedRow extends InstanceName {
  id: number;
  state: JsonObject;
  revision: number;
  /** An indexed change lies behind the last entry. */
  is_beyond: boolean;
  /** The fold starts at a kept state of an entry that does not change the instance. */
  is_baseless: boolean;
}

/** Rows that share an id come together. */
async function rowsAfter(
  db: Db,
  { id, head }: ComparedDeployment,
  after: number,
  count: number,
): Promise<ComparedRow[]> {
  const { rows } = await sql<ComparedRow>`
    select i.id, i.entity_schema as "entitySchema", i.instance_id as "instanceId", i.state, i.revision,
      exists (select from instance_changes c where c.deployment_id = ${id} and c.entity_schema = i.entity_schema
        and c.instance_id = i.instance_id and c.seq > ${head}) as is_beyond,
      coalesce(base.seq > 0 and not exists (select from journal j where j.deployment_id = ${id} and j.seq = base.seq
        and j.changes @> jsonb_build_array(jsonb_build_object(
          'entitySchema', i.entity_schema, 'instanceId', i.instance_id))), false) as is_baseless
    from (select * from instances where deployment_id = ${id} and id > ${after}
      order by id fetch first ${sql.lit(count)} rows with ties) i
    left join lateral (
      select seq from kept_states k where k.deployment_id = ${id} and k.entity_schema = i.entity_schema
        and k.instance_id = i.instance_id and k.seq <= ${head} order by k.seq desc limit 1) base on true
    order by i.id, i.entity_schema, i.instance_id`.execute(db);
  return rows;
}

async function firstDifference(
  db: Db,
  { id, head }: ComparedDeployment,
  rows: readonly ComparedRow[],
  memory: FoldMemory,
): Promise<Divergence | undefined> {
  const unknown = rows.filter((row) => memory.get(changeKey(row)) === undefined);
  let folded: (PastState | null)[];
  try {
    folded = await pastStates(db, id, unknown, head);
  } catch (error) {
    if (error instanceof RangeError) return { seq: head, what: 'impossible_change' };
    throw error;
  }
  for (const row of rows) {
    const instance = changeKey(row);
    const what = differenceOf(row, memory.get(instance) ?? folded[unknown.indexOf(row)]);
    if (what !== undefined) return { seq: head, what, instance };
  }
  return undefined;
}

function differenceOf(
  row: ComparedRow,
  expected: Parameters<typeof same>[0] | null | undefined,
): Divergence['what'] | undefined {
  if (row.is_beyond) return 'change_index_differs';
  if (row.is_baseless) return 'kept_state_differs';
  return expected && same(expected, row) ? undefined : 'instance_differs';
}
