import type { JsonValue } from '@orrery/contracts';
import type { PollLoop } from '@orrery/service-kit';
import type pg from 'pg';
import type { Database } from '../connection/connect.js';
import { classifyPostgresError } from '../errors/postgres-errors.js';
import { type RelayOptions, type RelaySession, startRelay, type WaitingMessage } from './relay.js';

/** The database and the schema that hold the outbox. */
type OutboxDatabase = Pick<Database<unknown>, 'pool' | 'schema'>;

/** A committed row of the outbox. */
export interface OutboxMessage extends WaitingMessage {
  readonly id: number;
  readonly payload: JsonValue;
}

export interface OutboxRelayOptions extends Omit<RelayOptions<OutboxMessage>, 'name' | 'within'> {
  readonly database: OutboxDatabase;
}

/**
 * Publishes the rows of an outbox. They are removed once the bus has stored them. Every replica runs a relay, and a lock
 * lets one of them work at a time, since two could not keep a key's order.
 */
export const startOutboxRelay = ({ database, ...options }: OutboxRelayOptions): PollLoop =>
  startRelay({
    ...options,
    name: `outbox relay of ${database.schema}`,
    within: (work) => withRelaySession(database, work),
  });

/** A relay waits this long for another one to finish its batch, in milliseconds. */
const WAIT_MS = 2000;

/** A batch whose publication takes longer loses the lock, and what it has published is published again. */
const STANDSTILL_MS = 30_000;

/**
 * Runs `work` on the rows of the outbox, while this connection holds the schema's relay lock. Waits for the relay
 * that holds it now; returns undefined when there are no rows or when that relay takes longer than `WAIT_MS`.
 *
 * The lock belongs to the session: a transaction would span calls over the network. The server releases it when the
 * process dies, and ends a connection that is idle for `STANDSTILL_MS`.
 */
async function withRelaySession<T>(
  outbox: OutboxDatabase,
  work: (session: RelaySession<OutboxMessage>) => Promise<T>,
): Promise<T | undefined> {
  const client = await outbox.pool.connect();
  let unlocked = false;
  try {
    const locked = await lock(client, outbox.schema);
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
 * Without rows it locks and sets nothing, so that an idle relay costs one cheap statement. The rows are read by
 * a later statement, since this one sees the outbox as it was before it got the lock. `min` uses the index, which skips
 * deleted rows; `exists` would scan the table from its start, past tens of thousands of dead rows until a vacuum.
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
select id, ordering_key as "orderingKey", message_id as "messageId", payload
from outbox where ordering_key <> all($1) order by id limit $2`,
};
const REMOVE = { name: 'outbox-remove', text: 'delete from outbox where id = any($1)' };

const sessionOn = (client: pg.PoolClient): RelaySession<OutboxMessage> => ({
  oldest: async (limit, exceptKeys) => {
    const { rows } = await client.query<OutboxMessage>({ ...OLDEST, values: [exceptKeys, limit] });
    return { messages: rows, more: rows.length === limit };
  },
  remove: async (messages) => {
    await client.query({ ...REMOVE, values: [messages.map(({ id }) => id)] });
  },
});
