import { transaction } from '@orrery/database';
import { StartupError } from '@orrery/service-kit';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../tables/schema.js';
import { lockedWhenFree } from './locked-when-free.js';
import type { Waiting } from './move-news.js';
import { REPLICATED } from './moved-tables.js';

/** The replication of one partition: publication and slot at the source, subscription at the target, all of one name. */
export interface Replication {
  readonly source: Db;
  readonly target: Db;
  readonly partition: number;
  /** The name of a slot is one of all databases of a server. */
  readonly name: string;
}

export const replicationName = (partition: number, source: string): string =>
  `orrery_move_${partition}_${source.slice(0, 8)}`;

const exists = async (db: Db, from: RawBuilder<unknown>): Promise<boolean> =>
  (await sql`select from ${from}`.execute(db)).rows.length > 0;

const publications = (name: string) => sql`pg_publication where pubname = ${name}`;
const slots = (name: string) => sql`pg_replication_slots where slot_name = ${name}`;
const subscriptions = (name: string) =>
  sql`pg_subscription s join pg_database d on d.oid = s.subdbid
    where s.subname = ${name} and d.datname = current_database()`;
/** One that has ended has no slot any more, and may wait to be dropped. */
const subscriptionsWithSlot = (name: string) => sql`${subscriptions(name)} and s.subslotname is not null`;

/** @throws StartupError where the server cannot publish */
export async function refuseUnpublishable(source: Db): Promise<void> {
  const { rows } = await sql<{ level: string }>`select current_setting('wal_level') as level`.execute(source);
  if (rows[0]?.level !== 'logical')
    throw new StartupError(
      'The server of the source cannot publish: set wal_level = logical there and restart it.',
    );
}

/**
 * Publishes the rows of the partition, and keeps what is written from now on. Rows whose key has no `deployment_id` are written
 * whole to the log meanwhile, as filters need it of the row before. That comes before the publication: with one, an update of a
 * table without it is refused. @throws StartupError where a subscription has lost its slot: a new one would keep only what is
 * written from now on
 */
export async function publish(
  replication: Replication,
  waiting: Waiting,
  check: () => Promise<void>,
): Promise<void> {
  const { source, partition, name } = replication;
  if (!(await exists(source, publications(name)))) {
    await writeWholeRows(source, waiting, check);
    await createPublication({ source, partition, name });
  }
  if (await hasSlot(replication)) return;
  if (await isSubscribed(replication)) throw slotLost();
  await sql`select pg_drop_replication_slot(slot_name) from ${slots(name)}`.execute(source);
  // The server makes it once the transactions of that moment have ended, those of its other databases too.
  const create = sql`select pg_create_logical_replication_slot(${name}, 'pgoutput')`;
  await transaction(source, (trx) => create.execute(trx), { unbounded: true });
}

async function writeWholeRows(source: Db, waiting: Waiting, check: () => Promise<void>): Promise<void> {
  const tables = await tablesByAnotherKey(source);
  const set = async (trx: Db) => {
    for (const table of tables) await sql.raw(`alter table ${table} replica identity full`).execute(trx);
  };
  await lockedWhenFree(source, { schema: 'runtime', names: tables }, set, waiting, check);
}

/** One of which the server has thrown the log away keeps nothing any more. */
export const hasSlot = ({ source, name }: Replication): Promise<boolean> =>
  exists(source, sql`${slots(name)} and wal_status is distinct from 'lost'`);

/** What was committed since is not kept for the target. */
export const slotLost = (): StartupError =>
  new StartupError(
    'The replication slot of the move is gone or has lost its log, as after a failover of the source: undo the move with --abort, and begin it again.',
  );

/** @throws StartupError where the end of another move has set a table back meanwhile: its updates would be refused */
async function createPublication({ source, partition, name }: Omit<Replication, 'target'>): Promise<void> {
  const rows = REPLICATED.map((table) => `runtime.${table} where (deployment_id % 64 = ${partition})`);
  await transaction(source, async (trx) => {
    await sql.raw(`create publication ${name} for table ${rows.join(', ')}`).execute(trx);
    const { rows: found } = await sql<{ whole: number }>`
      select count(*)::int as whole from pg_class
      where relnamespace = 'runtime'::regnamespace and relreplident = 'f'`.execute(trx);
    if (found[0]?.whole !== (await tablesByAnotherKey(trx)).length)
      throw new StartupError('Another move has ended in this moment: try again.');
  });
}

async function tablesByAnotherKey(source: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c join pg_index i on i.indrelid = c.oid and i.indisprimary
    where c.relnamespace = 'runtime'::regnamespace and c.relname = any(${[...REPLICATED]}) and not exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'deployment_id' and a.attnum = any(i.indkey))`.execute(
    source,
  );
  return rows.map(({ name }) => name);
}

/** Copies what is published and follows it. `from`: the address of the source, as the server of the target reaches it. */
export async function subscribe({ target, name }: Replication, from: string): Promise<void> {
  if (await exists(target, subscriptions(name))) return;
  const address = `'${from.replaceAll("'", "''")}'`;
  // A slot made by this statement would wait for it, where both databases are of one server.
  const options = `create_slot = false, slot_name = ${name}`;
  await sql
    .raw(`create subscription ${name} connection ${address} publication ${name} with (${options})`)
    .execute(target);
}

export interface CopyProgress {
  readonly tables: number;
  /** Tables that are copied and follow the source. */
  readonly inStep: number;
  /** Entries of journals that are copied. */
  readonly entries: number;
  /** Errors that the target's server has met; its log names them. */
  readonly errors: number;
  /** Whether a worker of the target's server follows the source now. */
  readonly isFollowed: boolean;
}

/** How far the copy is; `undefined` where nothing is subscribed to any more. */
export async function readProgress({ target, name }: Replication): Promise<CopyProgress | undefined> {
  const { rows } = await sql<CopyProgress>`
    select count(*)::int as tables, count(*) filter (where r.srsubstate = 'r')::int as "inStep",
      coalesce((select sum(tuples_processed) from pg_stat_progress_copy p
        where p.datname = current_database() and p.relid = 'journal'::regclass), 0)::int8 as entries,
      coalesce((select apply_error_count + sync_error_count from pg_stat_subscription_stats t
        where t.subname = ${name}), 0)::int as errors,
      exists (select from pg_stat_subscription w
        where w.subname = ${name} and w.relid is null and w.pid is not null) as "isFollowed"
    from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid
      join pg_database d on d.oid = s.subdbid
    where s.subname = ${name} and d.datname = current_database() and s.subslotname is not null
    having count(*) > 0`.execute(target);
  return rows[0];
}

/** A place in the source's log behind everything that is committed. */
export async function placeInLog({ source, name }: Replication): Promise<string> {
  const { rows } = await sql<{ place: string }>`
    select pg_logical_emit_message(true, 'orrery', ${name})::text as place`.execute(source);
  return rows[0]?.place ?? '';
}

/** Whether the target has everything before a place, on its disk. */
export async function hasArrived({ source, name }: Replication, place: string): Promise<boolean> {
  const { rows } = await sql<{ arrived: boolean }>`
    select confirmed_flush_lsn >= ${place}::pg_lsn as arrived from ${slots(name)}`.execute(source);
  return rows[0]?.arrived === true;
}

export const hasPublication = ({ source, name }: Pick<Replication, 'source' | 'name'>): Promise<boolean> =>
  exists(source, publications(name));

/** Whether something is left at the source of what `publish` made. */
export const isPublished = async ({ source, name }: Replication): Promise<boolean> =>
  (await exists(source, publications(name))) || (await exists(source, slots(name)));

export const isSubscribed = ({ target, name }: Replication): Promise<boolean> =>
  exists(target, subscriptionsWithSlot(name));

/**
 * Lets the subscription go on, if it is there. One without a slot never does again: it was ended, after everything had arrived.
 * @returns whether anything may arrive still
 */
export async function follows({ target, name }: Replication): Promise<boolean> {
  const { rows } = await sql<{ enabled: boolean }>`
    select subenabled as enabled from ${subscriptionsWithSlot(name)}`.execute(target);
  const [found] = rows;
  if (found === undefined) return false;
  if (!found.enabled) await sql.raw(`alter subscription ${name} enable`).execute(target);
  return true;
}

/** Ends the subscription, which waits for nobody. Its workers end in a moment, those that copy tables when it is dropped. */
export async function stopFollowing(replication: Replication): Promise<void> {
  const { target, name } = replication;
  if (!(await isSubscribed(replication))) return;
  await sql.raw(`alter subscription ${name} disable`).execute(target);
  // The source may be away; its slot is dropped there.
  await sql.raw(`alter subscription ${name} set (slot_name = none)`).execute(target);
}

/**
 * Of one that has ended. Nothing more is written at the target when it resolves. To drop a subscription older servers lock their list of all, which
 * backups of any of their databases have read (PostgreSQL's `subscriptioncmds.c`).
 */
export async function dropSubscription({ target, name }: Replication, waiting: Waiting): Promise<void> {
  const drop = (trx: Db) => sql.raw(`drop subscription if exists ${name}`).execute(trx);
  if (await exists(target, subscriptions(name)))
    await lockedWhenFree(target, { schema: 'pg_catalog', names: ['pg_subscription'] }, drop, waiting);
}

/** From then on no mover fences the partition. */
export const dropPublication = ({ source, name }: Pick<Replication, 'source' | 'name'>) =>
  sql.raw(`drop publication if exists ${name}`).execute(source);

/** @returns false while it is in use still */
export async function dropSlot({ source, name }: Pick<Replication, 'source' | 'name'>): Promise<boolean> {
  const { rows } = await sql<{ busy: boolean }>`
    select active as busy, case when not active then pg_drop_replication_slot(slot_name) end
    from ${slots(name)}`.execute(source);
  return rows[0]?.busy !== true;
}

/** Drops what `publish` made, and the target's server. @returns false while a slot is in use still: try again */
export async function unpublish(replication: Replication, waiting: Waiting): Promise<boolean> {
  const { source } = replication;
  if (!(await dropSlot(replication)) || !(await dropCopySlots(replication))) return false;
  await dropPublication(replication);
  await setBack(source, waiting);
  return true;
}

/**
 * A server that copies tables makes slots for them at the source, and leaves them there where it cannot reach it when its
 * subscription is dropped. They would keep the log until the disk is full. @returns false while one is in use still
 */
async function dropCopySlots({ source, target }: Replication): Promise<boolean> {
  const { rows: servers } = await sql<{ id: string }>`
    select system_identifier::text as id from pg_control_system()`.execute(target);
  const { rows: found } = await sql<{ name: string; active: boolean }>`
    select slot_name as name, active from pg_replication_slots
    where database = current_database() and slot_name ~ ${`^pg_[0-9]+_sync_[0-9]+_${servers[0]?.id}$`}`.execute(
    source,
  );
  // After the slots: the subscription of one that is found was made before it.
  const { rows: live } = await sql<{ id: string }>`select oid::text as id from pg_subscription`.execute(
    target,
  );
  const left = found.filter(({ name }) => !live.some(({ id }) => name.startsWith(`pg_${id}_sync_`)));
  for (const { name } of left.filter(({ active }) => !active))
    await sql`select pg_drop_replication_slot(${name})`.execute(source);
  return left.every(({ active }) => !active);
}

/** Unless another move publishes: the lock keeps one from beginning meanwhile. */
async function setBack(source: Db, waiting: Waiting): Promise<void> {
  const whole = await tablesWrittenWhole(source);
  if (whole.length === 0 || (await anyMovePublishes(source))) return;
  const set = async (trx: Db) => {
    await sql.raw(`lock table ${whole.join(', ')} in access exclusive mode`).execute(trx);
    if (await anyMovePublishes(trx)) return;
    for (const table of whole) await sql.raw(`alter table ${table} replica identity default`).execute(trx);
  };
  await lockedWhenFree(source, { schema: 'runtime', names: whole }, set, waiting);
}

const anyMovePublishes = (db: Db) => exists(db, sql`pg_publication where pubname like 'orrery_move_%'`);

async function tablesWrittenWhole(source: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'runtime'::regnamespace and relreplident = 'f' and relname = any(${[...REPLICATED]})`.execute(
    source,
  );
  return rows.map(({ name }) => name);
}
