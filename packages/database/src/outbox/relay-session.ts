import type pg from 'pg';
import type { Database } from '../connection/connect.js';
import { classifyPostgresError } from '../errors/postgres-errors.js';
import type { OutboxRow } from './outbox-row.js';

/** The schema whose outbox is meant. */
export type OutboxPlace = Pick<Database<unknown>, 'pool' | 'schema'>;

/** What a relay may do with the outbox while no other relay of this schema can. */
export interface RelaySession {
  oldest(limit: number, exceptKeys: readonly string[]): Promise<OutboxRow[]>;
  remove(ids: readonly number[]): Promise<void>;
}

/** A relay waits this long for another one to finish its batch, in milliseconds. */
const WAIT_MS = 2000;

/** A batch whose publication takes longer loses the lock, and what it has published is published again. */
const STANDSTILL_MS = 30_000;

/**
 * Runs `work` while this connection holds the schema's relay lock, after the relay that holds it now; returns
 * undefined when nothing waits in the outbox or that one takes too long. The lock belongs to the session, not to a transaction, which would
 * span the network. It goes with the connection when the process dies, and the server ends a connection that
 * stands still.
 */
export async function withRelaySession<T>(
  place: OutboxPlace,
  work: (session: RelaySession) => Promise<T>,
): Promise<T | undefined> {
  const client = await place.pool.connect();
  let unlocked = false;
  try {
    const locked = await lock(client, place.schema);
    if (locked === 'nothing waits') unlocked = true;
    if (locked !== 'locked') return undefined;
    const result = await work(sessionOn(client));
    await client.query('select pg_advisory_unlock_all(); reset idle_session_timeout; reset lock_timeout');
    unlocked = true;
    return result;
  } finally {
    // A connection that may still hold the lock is closed, which releases it.
    client.release(!unlocked);
  }
}

/**
 * Without a row in the outbox nothing is locked or set, so that an idle relay costs one cheap statement. What waits is
 * read by another one: this one sees the outbox as it was before it got the lock. `min` goes by the index, which passes
 * over what was deleted; `exists` would read the table from its start, tens of thousands of dead rows until a vacuum.
 */
const LOCK = {
  name: 'outbox-lock',
  text: `
select case when set_config('idle_session_timeout', '${STANDSTILL_MS}', false) is not null
    and set_config('lock_timeout', '${WAIT_MS}', false) is not null
  then pg_advisory_lock(hashtext('orrery.outbox'), hashtext($1)) end
where (select min(id) from outbox) is not null`,
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

const OLDEST = {
  name: 'outbox-oldest',
  text: `
select id, name, ordering_key as "orderingKey", ordering_seq as "orderingSeq", message_id as "messageId", payload, headers
from outbox where ordering_key <> all($1) order by id limit $2`,
};
const REMOVE = { name: 'outbox-remove', text: 'delete from outbox where id = any($1)' };

function sessionOn(client: pg.PoolClient): RelaySession {
  return {
    oldest: async (limit, exceptKeys) => {
      const { rows } = await client.query<OutboxRow>({ ...OLDEST, values: [exceptKeys, limit] });
      return rows;
    },
    remove: async (ids) => {
      if (ids.length > 0) await client.query({ ...REMOVE, values: [ids] });
    },
  };
}
