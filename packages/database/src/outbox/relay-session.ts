import type { JsonValue } from '@orrery/contracts';
import type pg from 'pg';
import type { Database } from '../connection/connect.js';
import { classifyPostgresError } from '../errors/postgres-errors.js';

/** The database and the schema that hold the outbox. */
export type OutboxDatabase = Pick<Database<unknown>, 'pool' | 'schema'>;

/** A committed row of the outbox that waits for its publication. */
export interface OutboxRow {
  readonly id: number;
  readonly name: string;
  readonly orderingKey: string;
  readonly orderingSeq: number | null;
  readonly messageId: string;
  readonly payload: JsonValue | null;
}

/** The rows that one relay publishes: no other relay works on them at the same time. */
export interface RelaySession {
  oldest(limit: number, exceptKeys: readonly string[]): Promise<OutboxRow[]>;
  remove(ids: readonly number[]): Promise<void>;
}

/** Shards by number; `all` where no other process publishes any, so that the oldest rows are its own. */
export type OwnShards = readonly number[] | 'all';

/** A relay waits this long for another one to finish its batch, in milliseconds. */
const WAIT_MS = 2000;

/** A batch whose publication takes longer loses the lock, and what it has published is published again. */
const STANDSTILL_MS = 30_000;

/**
 * The rows of shards that this process owns. Nothing locks them: while two processes believe that they own a shard, both
 * publish its rows, each in their order. The bus recognizes the repetitions by their ids.
 */
export function ownShards({ pool }: OutboxDatabase, shards: OwnShards): RelaySession {
  if (shards === 'all') return sessionOn(pool, OLDEST_SHARDED);
  // Reading stops at the limit. So that each shard gets its turn, each look begins with another one.
  const first = Math.floor(Math.random() * shards.length);
  const inTurn = [...shards.slice(first), ...shards.slice(0, first)];
  return {
    oldest: async (limit, exceptKeys) => {
      const { rows } = await pool.query<OutboxRow>({ ...OLDEST_OWN, values: [exceptKeys, limit, inTurn] });
      return rows.sort((a, b) => a.id - b.id);
    },
    remove: (ids) => remove(pool, ids),
  };
}

/**
 * Runs `work` on the rows that are in no shard, while this connection holds the schema's relay lock. Waits for the relay
 * that holds it now; returns undefined when there are no such rows or when that relay takes longer than `WAIT_MS`.
 *
 * The lock belongs to the session: a transaction would span calls over the network. The server releases it when the
 * process dies, and ends a connection that is idle for `STANDSTILL_MS`.
 */
export async function withRelaySession<T>(
  outbox: OutboxDatabase,
  work: (session: RelaySession) => Promise<T>,
): Promise<T | undefined> {
  const client = await outbox.pool.connect();
  let unlocked = false;
  try {
    const locked = await lock(client, outbox.schema);
    if (locked === 'nothing waits') unlocked = true;
    if (locked !== 'locked') return undefined;
    const result = await work(sessionOn(client, OLDEST));
    await client.query('select pg_advisory_unlock_all(); reset idle_session_timeout; reset lock_timeout');
    unlocked = true;
    return result;
  } finally {
    // A connection that may still hold the lock is closed, which releases it.
    client.release(!unlocked);
  }
}

/**
 * Without such rows it locks and sets nothing, so that an idle relay costs one cheap statement. The rows are read by
 * a later statement, since this one sees the outbox as it was before it got the lock. `min` uses the index, which skips
 * deleted rows; `exists` would scan the table from its start, past tens of thousands of dead rows until a vacuum.
 */
const LOCK = {
  name: 'outbox-lock',
  text: `
select case when set_config('idle_session_timeout', '${STANDSTILL_MS}', false) is not null
    and set_config('lock_timeout', '${WAIT_MS}', false) is not null
  then pg_advisory_lock(hashtext('orrery.outbox'), hashtext($1)) end
where (select min(id) from outbox where shard is null) is not null`,
};

async function lock(
  client: pg.PoolClient,
  schema: string,
): Promise<'locked' | 'nothing waits' | 'held by another'> {
  try {
    const { rows } = await client.query({ ...LOCK, values: [schema] });
    return rows.length > 0 ? 'locked' : 'nothing waits';
  } catch (error) {
    if (classifyPostgresError(error).kind === 'timeout') return 'held by another';
    throw error;
  }
}

const oldest = (where: string, order: string) => `
select id, name, ordering_key as "orderingKey", ordering_seq as "orderingSeq", message_id as "messageId", payload
from outbox where ${where} and ordering_key <> all($1) order by ${order} limit $2`;
const OLDEST = { name: 'outbox-oldest', text: oldest('shard is null', 'id') };
/** The cheapest look: a look shard by shard costs a fifth of the executions that two cores allow. */
const OLDEST_SHARDED = { name: 'outbox-oldest-sharded', text: oldest('shard is not null', 'id') };
/**
 * Shard by shard, by the index on shard and id. With `shard = …` the planner may take the primary key for the order, and
 * scan past all rows of other owners; with `between` only that index has the order. Unnamed, so that it is planned each
 * time: a plan that was kept since the table was empty would scan all of it for each shard.
 */
const OLDEST_OWN = {
  text: `select waiting.* from unnest($3::smallint[]) as own (shard) cross join lateral (
    ${oldest('shard between own.shard and own.shard', 'shard, id')}) as waiting limit $2`,
};
const REMOVE = { name: 'outbox-remove', text: 'delete from outbox where id = any($1)' };

function sessionOn(client: pg.Pool | pg.PoolClient, statement: typeof OLDEST): RelaySession {
  return {
    oldest: async (limit, exceptKeys) => {
      const { rows } = await client.query<OutboxRow>({ ...statement, values: [exceptKeys, limit] });
      return rows;
    },
    remove: (ids) => remove(client, ids),
  };
}

async function remove(connection: pg.Pool | pg.PoolClient, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await connection.query({ ...REMOVE, values: [ids] });
}
