import type { PageQuery } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { InstanceName } from '@orrery/deciding';
import { createSemaphore } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db, Trx } from '../tables/schema.js';

/** Entries that one transaction goes through. */
const ENTRIES_AT_ONCE = 10_000;

/** Deployments whose lifetimes are computed at once: long journals leave connections for others. */
const COMPUTED_AT_ONCE = 2;
const MAX_WAITING = 1000;

/**
 * Computes the lifetimes of a deployment's instances up to entry `seq`, which the journal has reached; `head` is where it
 * ends. What is computed stays: entries never change, so any process may do it, and the next one goes on from there. When
 * the signal aborts, the next call goes on too. @throws `overloaded` when too many wait
 */
export type ComputeLifetimes = (
  deploymentId: number,
  reach: { readonly seq: number; readonly head: number },
  signal: AbortSignal,
) => Promise<void>;

export function createLifetimes(db: Db): ComputeLifetimes {
  const computing = createSemaphore(COMPUTED_AT_ONCE, { maxWaiting: MAX_WAITING });
  return (deploymentId, { seq, head }, signal) =>
    computing.run(signal, async () => {
      for (let done = -1; done < seq; ) {
        signal.throwIfAborted();
        done = await transaction(db, (trx) => computeNext(trx, deploymentId, head), { signal });
      }
    });
}

/** Up to which entry lifetimes have been computed; undefined: not even those that a clone began with. */
export async function computedUntil(db: Db, deploymentId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('lifetime_heads')
    .select('seq')
    .where('deployment_id', '=', deploymentId)
    .executeTakeFirst();
  return row?.seq;
}

/** The row of the head is locked, so that one process at a time computes a deployment's. */
async function computeNext(trx: Trx, deploymentId: number, head: number): Promise<number> {
  await beginLifetimes(trx, deploymentId);
  const { seq: done } = await trx
    .selectFrom('lifetime_heads')
    .select('seq')
    .where('deployment_id', '=', deploymentId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const until = Math.min(done + ENTRIES_AT_ONCE, head);
  if (until <= done) return done;
  await applyEntries(trx, deploymentId, done, until);
  await trx
    .updateTable('lifetime_heads')
    .set({ seq: until })
    .where('deployment_id', '=', deploymentId)
    .execute();
  return until;
}

/**
 * What a clone began with, in the order in which it lists it: of a new clone exactly; of one that was made before there
 * were lifetimes, copies that are gone come last. Does nothing the second time.
 */
export async function beginLifetimes(trx: Trx, deploymentId: number): Promise<void> {
  const { numInsertedOrUpdatedRows: isFirst } = await trx
    .insertInto('lifetime_heads')
    .values({ deployment_id: deploymentId, seq: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (!isFirst) return;
  await sql`
    insert into lifetimes (deployment_id, created_seq, place, entity_schema, instance_id)
    select ${deploymentId}, 0, row_number() over (order by i.id, k.entity_schema, k.instance_id),
      k.entity_schema, k.instance_id
    from kept_states k
    left join instances i on i.deployment_id = k.deployment_id
      and i.entity_schema = k.entity_schema and i.instance_id = k.instance_id
    where k.deployment_id = ${deploymentId} and k.seq = 0`.execute(trx);
}

/** The insertion counts the rows of `ended`, so that lifetimes end before others of the same instances begin. */
const applyEntries = (trx: Trx, deploymentId: number, after: number, until: number) =>
  sql`
    with change as (
      select j.seq, one.place, one.change ->> 'entitySchema' as entity_schema,
        one.change ->> 'instanceId' as instance_id, one.change ->> 'op' as op
      from journal j
      cross join lateral jsonb_array_elements(j.changes) with ordinality one (change, place)
      where j.deployment_id = ${deploymentId} and j.seq > ${after} and j.seq <= ${until}
        and one.change ->> 'op' <> 'update'
    ), step as materialized (
      select *, lag(seq) over each_one as begun, lead(seq) over each_one as deleted_seq from change
      window each_one as (partition by entity_schema, instance_id order by seq)
    ), ended as (
      update lifetimes l set deleted_seq = step.seq from step
      where step.op = 'delete' and step.begun is null and l.deployment_id = ${deploymentId}
        and l.entity_schema = step.entity_schema and l.instance_id = step.instance_id and l.deleted_seq is null
      returning 1
    )
    insert into lifetimes (deployment_id, created_seq, place, entity_schema, instance_id, deleted_seq)
    select ${deploymentId}, seq, place, entity_schema, instance_id, deleted_seq from step
    where op = 'create' and (select count(*) from ended) >= 0`.execute(trx);

/** A lifetime of 2^50 entries or more cannot be: `seq` has at most 15 digits. */
const LARGEST_SPAN = 50;

/**
 * The lifetimes, up to where they are computed, that contain entry `seq`. It reads as many rows as there were instances, not
 * as there ever were: `offset 0` keeps the planner from reading all lifetimes and joining them.
 */
export const lifetimesAt = (deploymentId: number, seq: number, entitySchema?: string) => {
  const ofSchema = entitySchema === undefined ? sql`` : sql`and entity_schema = ${entitySchema}`;
  return sql`
    select created_seq, place, entity_schema, instance_id from lifetimes
    where deployment_id = ${deploymentId} and deleted_seq is null and created_seq <= ${seq} ${ofSchema}
    union all
    select l.* from generate_series(0, ${LARGEST_SPAN}) s (span)
    cross join lateral (
      select created_seq, place, entity_schema, instance_id from lifetimes
      where deployment_id = ${deploymentId} and deleted_seq is not null and span = s.span ${ofSchema}
        and created_seq <= ${seq} and created_seq > ${seq} - (2::bigint << s.span) and deleted_seq > ${seq}
      offset 0) l`;
};

/**
 * A page of the instances that were there after entry `seq`, in order of creation, and how many there were. Lifetimes
 * must be computed up to `seq`.
 */
export async function instancesThen(
  db: Db,
  deploymentId: number,
  seq: number,
  entitySchema: string | undefined,
  { page, limit }: PageQuery,
): Promise<{ names: InstanceName[]; total: number }> {
  const { rows } = await sql<{ names: InstanceName[]; total: number }>`
    with there as materialized (${lifetimesAt(deploymentId, seq, entitySchema)}), shown as (
      select * from there order by created_seq, place limit ${limit} offset ${(page - 1) * limit}
    )
    select (select count(*) from there) as total,
      coalesce((select jsonb_agg(jsonb_build_object('entitySchema', entity_schema, 'instanceId', instance_id)
        order by created_seq, place) from shown), '[]') as names`.execute(db);
  const [found] = rows;
  return found ?? { names: [], total: 0 };
}
