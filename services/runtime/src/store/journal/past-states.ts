import { createHash } from 'node:crypto';
import { canonicalJson, type InstanceChange, type JsonObject } from '@orrery/contracts';
import { foldChange, type InstanceName } from '@orrery/deciding';
import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';

/** An instance as it was after some entry. */
export interface PastState {
  state: JsonObject;
  revision: number;
  /** When the change that made it so was executed; null for a state that a clone began with. */
  changedAt: Date | null;
}

/** The names as a table `n`, with their places in the list. */
export const named = (names: readonly InstanceName[]) => sql`
  rows from (unnest(${names.map(({ entitySchema }) => entitySchema)}::text[],
    ${names.map(({ instanceId }) => instanceId)}::text[])) with ordinality n (entity_schema, instance_id, position)`;

interface PastRow {
  /** `at` is null for a state that a clone began with. */
  kept: { revision: number; state: JsonObject | null; at: string | null } | null;
  changes: InstanceChange[] | null;
  /** When the last of `changes` was executed. */
  changed_at: Date | null;
}

/** Bytes of changes, as JSON, that are folded at once; those of one instance alone may have 6 MiB. */
const FOLDED_BYTES = 8 * 1024 * 1024;

/**
 * The states that instances had after entry `seq`, in the order of `names`; null: absent then. Each starts at its last
 * kept one, so it folds at most 100 changes; they are read in parts, of instances whose changes have a few MiB. Call it with
 * a few dozen names at a time. Throws RangeError where the journal contradicts itself.
 */
export async function pastStates(
  db: Db,
  deploymentId: number,
  names: readonly InstanceName[],
  seq: number,
): Promise<(PastState | null)[]> {
  const bytes = names.length < 2 ? [] : await changedBytes(db, deploymentId, names, seq);
  const states: (PastState | null)[] = [];
  while (states.length < names.length) {
    const first = states.length;
    let end = first + 1;
    for (let sum = bytes[first] ?? 0; end < names.length; end += 1) {
      sum += bytes[end] ?? 0;
      if (sum > FOLDED_BYTES) break;
    }
    states.push(...(await foldedPart(db, deploymentId, names.slice(first, end), seq)));
  }
  return states;
}

/** The last state of the name `n` that was kept, up to an entry. */
const lastKept = (deploymentId: number, seq: number) => sql`
  select seq, revision, state from kept_states s
  where s.deployment_id = ${deploymentId} and s.entity_schema = n.entity_schema
    and s.instance_id = n.instance_id and s.seq <= ${seq}
  order by s.seq desc limit 1`;

/** How many bytes the entries have, at most, from which each state is folded. */
async function changedBytes(
  db: Db,
  deploymentId: number,
  names: readonly InstanceName[],
  seq: number,
): Promise<number[]> {
  const { rows } = await sql<{ bytes: number }>`
    select c.bytes
    from ${named(names)}
    left join lateral (${lastKept(deploymentId, seq)}) k on true
    cross join lateral (
      select coalesce(sum(octet_length(j.changes::text)), 0)::float8 as bytes
      from instance_changes i
      join journal j on j.deployment_id = i.deployment_id and j.seq = i.seq
      where i.deployment_id = ${deploymentId} and i.entity_schema = n.entity_schema
        and i.instance_id = n.instance_id and i.seq > coalesce(k.seq, -1) and i.seq <= ${seq}) c
    order by n.position`.execute(db);
  return rows.map(({ bytes }) => bytes);
}

async function foldedPart(
  db: Db,
  deploymentId: number,
  names: readonly InstanceName[],
  seq: number,
): Promise<(PastState | null)[]> {
  const { rows } = await sql<PastRow>`
    select case when k.seq is not null then jsonb_build_object('revision', k.revision, 'state', k.state, 'at',
        (select executed_at from journal where deployment_id = ${deploymentId} and seq = k.seq)) end as kept,
      c.changes, c.changed_at
    from ${named(names)}
    left join lateral (${lastKept(deploymentId, seq)}) k on true
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

function foldRow({ kept, changes, changed_at }: PastRow): PastState | null {
  let state = kept?.state ?? null;
  for (const change of changes ?? []) state = foldChange(state, change);
  const at = changed_at ?? kept?.at ?? null;
  if (state === null) return null;
  return {
    state,
    revision: changes?.at(-1)?.revision ?? kept?.revision ?? 1,
    changedAt: at === null ? null : new Date(at),
  };
}

interface SnapshotInstance extends InstanceName {
  state: JsonObject;
}

/** Instances folded at once: bounds the memory that a snapshot takes. */
const AT_ONCE = 50;

/**
 * All instances of a deployment as they were after entry `seq`, in order of schema and instanceId by their UTF-8 bytes.
 * A clone of the past and its `snapshotHash` are made from it.
 */
export async function* snapshotAt(
  db: Db,
  deploymentId: number,
  seq: number,
): AsyncGenerator<SnapshotInstance> {
  let after: InstanceName = { entitySchema: '', instanceId: '' };
  for (;;) {
    const names = await namesAfter(db, deploymentId, after);
    const states = await pastStates(db, deploymentId, names, seq);
    for (const [index, name] of names.entries()) {
      const past = states[index];
      if (past) yield { ...name, state: past.state };
      after = name;
    }
    if (names.length < AT_ONCE) return;
  }
}

/** The next instances that exist or existed: one index probe each, however many changes each had. */
async function namesAfter(db: Db, deploymentId: number, after: InstanceName): Promise<InstanceName[]> {
  const next = (schema: string, id: string) => sql`
    select entity_schema, instance_id from (
      (select entity_schema, instance_id from instance_changes where deployment_id = ${deploymentId}
        and (entity_schema, instance_id) > (${sql.raw(schema)}, ${sql.raw(id)})
        order by entity_schema, instance_id limit 1)
      union all
      (select entity_schema, instance_id from kept_states where deployment_id = ${deploymentId}
        and (entity_schema, instance_id) > (${sql.raw(schema)}, ${sql.raw(id)})
        order by entity_schema, instance_id limit 1)) either
    order by entity_schema, instance_id limit 1`;
  const { rows } = await sql<InstanceName>`
    with recursive start (entity_schema, instance_id) as (
      select ${after.entitySchema}::text collate "C", ${after.instanceId}::text collate "C"),
    names (entity_schema, instance_id, n) as (
      select entity_schema, instance_id, 0 from start
      union all
      select found.entity_schema, found.instance_id, names.n + 1 from names
      cross join lateral (${next('names.entity_schema', 'names.instance_id')}) found
      where names.n < ${AT_ONCE})
    select entity_schema as "entitySchema", instance_id as "instanceId"
    from names where n > 0 order by n`.execute(db);
  return rows;
}

/**
 * The `snapshotHash` of a clone: SHA-256 over one line per instance, in `snapshotAt`'s order, each the RFC 8785 JSON of
 * `{ entitySchema, instanceId, state }` and a line feed.
 */
export function snapshotHasher(): { add(instance: SnapshotInstance): void; digest(): string } {
  const hash = createHash('sha256');
  return {
    add: ({ entitySchema, instanceId, state }) => {
      hash.update(`${canonicalJson({ entitySchema, instanceId, state })}\n`, 'utf8');
    },
    digest: () => hash.digest('hex'),
  };
}

/** Kept states in memory at once while a snapshot is hashed. */
const STATES_AT_ONCE = 50;

/** The `snapshotHash` over a deployment's kept states at seq 0, which are the instances that a clone began with. */
export async function snapshotHashOf(db: Db, deploymentId: number, signal?: AbortSignal): Promise<string> {
  const hasher = snapshotHasher();
  let after: InstanceName = { entitySchema: '', instanceId: '' };
  for (;;) {
    signal?.throwIfAborted();
    const page = await keptAtStart(db, deploymentId, after);
    for (const { state, ...name } of page) {
      // What a clone begins with exists.
      hasher.add({ ...name, state: state as JsonObject });
      after = name;
    }
    if (page.length < STATES_AT_ONCE) return hasher.digest();
  }
}

const keptAtStart = (db: Db, deploymentId: number, after: InstanceName) =>
  db
    .selectFrom('kept_states')
    .select(['entity_schema as entitySchema', 'instance_id as instanceId', 'state'])
    .where('deployment_id', '=', deploymentId)
    .where('seq', '=', 0)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('entity_schema', 'instance_id'), '>', tuple(after.entitySchema, after.instanceId)),
    )
    .orderBy('entity_schema')
    .orderBy('instance_id')
    .limit(STATES_AT_ONCE)
    .execute();
