import { createHash } from 'node:crypto';
import { transaction } from '@orrery/database';
import { createSemaphore } from '@orrery/service-kit';
import { sql } from 'kysely';
import { NotOwner, partitionOf } from '../leases/leases.js';
import type { Db, Trx } from '../tables/schema.js';
import { IDS_PER_BLOCK } from './id-blocks.js';

/**
 * Whether an instance was created in the deployment `d`, and is none that `d` began with as a clone. Either time may be the
 * later one, and both may be the same: processes have clocks of their own. `offset 0` keeps the planner from reading the kept
 * states of all deployments at once.
 */
export const createdIn = (instance: string) => `(${instance}.created_at <> d.created_at or not exists (
  select from kept_states k where k.deployment_id = ${instance}.deployment_id and k.seq = 0
    and k.entity_schema = ${instance}.entity_schema and k.instance_id = ${instance}.instance_id offset 0))`;

/** The `snapshotHash` of a clone that began with nothing. */
const NO_INSTANCES = createHash('sha256').digest('hex');
/** Above this a deployment would be away too long; the operator has to raise a limit for so many. */
const MOST_INSTANCES = 1_000_000;

/**
 * Whether the clone `d`, whose journal ends at `h`, has instances of its own before those that it began with: earlier releases
 * gave them ids that were fetched before it was cloned. Of most clones one row is read.
 */
export const HAS_OWN_FIRST = `(d.source ->> 'snapshotHash' <> '${NO_INSTANCES}'
  and (h.totals ->> 'instances')::bigint <= ${MOST_INSTANCES}
  and (select ${createdIn('i')} and exists (
      select from instances c where c.deployment_id = d.id and c.id > i.id and not ${createdIn('c')} offset 0)
    from instances i where i.deployment_id = d.id order by i.id limit 1))`;

/** A slow database moves so many within the time of a statement. */
const MOVED_AT_ONCE = 1000;

/** A deployment, and the epoch under which it is owned here. */
interface Owned {
  readonly deploymentId: number;
  readonly epoch: number;
}

/** Gives all that was created in a clone greater ids than what it began with, and answers the greatest. @throws NotOwner */
export type PutOwnLast = (owned: Owned) => Promise<number>;

/** One clone at a time: many are loaded at once after an upgrade, and others wait for the same connections. */
export function createCloneOrder(db: Db, signal: AbortSignal): PutOwnLast {
  const moving = createSemaphore(1);
  return (owned) => moving.run(signal, () => putOwnLast(db, owned, signal));
}

/**
 * The last ones first: whenever it ends, the order among them is right, and the next load does it again. Cursors over ids
 * come to what has moved twice, and miss nothing.
 */
async function putOwnLast(db: Db, owned: Owned, signal: AbortSignal): Promise<number> {
  const { greatest, before } = await drawIds(db, owned.deploymentId);
  for (let next = greatest, after = before; ; ) {
    signal.throwIfAborted();
    const { moved, lowest } = await transaction(db, (trx) => moveSome(trx, owned, next, after), { signal });
    if (moved < MOVED_AT_ONCE) return greatest;
    next -= moved;
    after = lowest;
  }
}

/** As many ids as there are instances, up to `greatest`; those in use are below `before`. */
async function drawIds(db: Db, deploymentId: number): Promise<{ greatest: number; before: number }> {
  for (;;) {
    const { rows } = await sql<{ count: number; before: number; block: number }>`
      select i.*, (select max(block) from (
        select nextval('id_blocks') as block from generate_series(0, i.count / ${IDS_PER_BLOCK} + 1)) drawn) as block
      from (select count(*) as count, coalesce(max(id), 0) + 1 as before from instances
        where deployment_id = ${deploymentId}) i`.execute(db);
    const { count = 0, before = 1, block = 0 } = rows[0] ?? {};
    const greatest = block * IDS_PER_BLOCK;
    // The blocks of a database that it came from may be ahead.
    if (greatest - count >= before) return { greatest, before };
  }
}

/** Moves the last that are before the id `before` to the ids up to `next`. */
async function moveSome(
  trx: Trx,
  owned: Owned,
  next: number,
  before: number,
): Promise<{ moved: number; lowest: number }> {
  const { deploymentId } = owned;
  await hold(trx, owned);
  const { rows } = await sql<{ moved: number; lowest: number | null }>`
    with own as materialized (
      select i.entity_schema, i.instance_id, i.id from instances i join deployments d on d.id = i.deployment_id
      where i.deployment_id = ${deploymentId} and i.id < ${before} and ${sql.raw(createdIn('i'))}
      order by i.id desc limit ${MOVED_AT_ONCE}
    ), moved as (
      update instances i set id = ${next} + 1 - o.place
      from (select *, row_number() over (order by id desc) as place from own) o
      where i.deployment_id = ${deploymentId} and i.entity_schema = o.entity_schema and i.instance_id = o.instance_id
      returning o.id
    )
    select count(*) as moved, min(id) as lowest from moved`.execute(trx);
  return { moved: rows[0]?.moved ?? 0, lowest: rows[0]?.lowest ?? 0 };
}

/** Until the transaction ends nobody takes the partition over, and a commit whose answer was lost has ended. */
async function hold(trx: Trx, { deploymentId, epoch }: Owned): Promise<void> {
  const partition = partitionOf(deploymentId);
  const { rows } = await sql`
    select from partitions p join journal_heads h on h.deployment_id = ${deploymentId}
    where p.id = ${partition} and p.epoch = ${epoch} and p.owner is not null
    for key share of p for no key update of h`.execute(trx);
  if (rows.length === 0) throw new NotOwner(partition);
}
