import { ServiceError } from '@orrery/contracts';
import {
  type Database,
  enqueue,
  migrate,
  type NewOutboxRow,
  type OutboxMessage,
  type OutboxRelayOptions,
  type OutboxSchema,
  outboxMigration,
  startOutboxRelay,
  transaction,
} from '@orrery/database';
import { FakeClock } from '@orrery/testing';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { newDatabaseUrl, open, quiet } from './test-connection.js';

type Outbox = Database<OutboxSchema>;

async function openOutbox(): Promise<{ database: Outbox; url: string }> {
  const url = await newDatabaseUrl();
  const database = await open<OutboxSchema>(url);
  const migrations = { '0001_outbox': outboxMigration };
  await migrate({ database, migrations, logger: quiet });
  return { database, url };
}

const row = (orderingKey: string, orderingSeq: number): NewOutboxRow => ({
  name: 'entry',
  orderingKey,
  messageId: `${orderingKey}:${orderingSeq}`,
  payload: { seq: orderingSeq },
});

const write = ({ db }: Outbox, rows: readonly NewOutboxRow[]) => transaction(db, (trx) => enqueue(trx, rows));
const left = async ({ pool }: Outbox): Promise<number> =>
  (await pool.query('select count(*) as rows from outbox')).rows[0].rows;

type PublishOne = (message: OutboxMessage) => Promise<void>;

/** As the bus does it: after a failure nothing more of its key. */
const each =
  (publish: PublishOne): OutboxRelayOptions['publish'] =>
  async (messages) => {
    const failed = new Map<string, unknown>();
    const outcomes: unknown[] = [];
    for (const message of messages) {
      const { orderingKey } = message;
      if (!failed.has(orderingKey))
        await publish(message).catch((error: unknown) => failed.set(orderingKey, error));
      outcomes.push(failed.get(orderingKey));
    }
    return outcomes;
  };

type RelayParts = Omit<Partial<OutboxRelayOptions>, 'publish'> & { publish?: PublishOne };

/** A relay that runs when the test says so: its clock stands still. */
function relayOf(database: Outbox, { publish, ...more }: RelayParts = {}) {
  const published: OutboxMessage[] = [];
  const note = async (message: OutboxMessage) => void published.push(message);
  const options = { database, publish: each(publish ?? note), clock: new FakeClock(), logger: quiet };
  const relay = startOutboxRelay({ ...options, ...more });
  onTestFinished(() => relay.stop());
  return { relay, published, ids: () => published.map(({ messageId }) => messageId) };
}

describe('enqueue and startOutboxRelay', () => {
  it('publishes what was committed, in order, and nothing of what was rolled back', async () => {
    const { database } = await openOutbox();
    const { relay, published } = relayOf(database);
    await write(database, [row('a', 1), row('b', 1), row('a', 2)]);
    const undone = transaction(database.db, async (trx) => {
      await enqueue(trx, [row('a', 3)]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await relay.runOnce();
    expect(published.filter(({ orderingKey }) => orderingKey === 'a')).toMatchObject([
      { messageId: 'a:1', payload: { seq: 1 } },
      { messageId: 'a:2', payload: { seq: 2 } },
    ]);
    expect(published).toHaveLength(3);
    expect(await left(database)).toBe(0);
  });

  it('publishes nothing before the commit', async () => {
    const { database } = await openOutbox();
    const { relay, ids } = relayOf(database);
    await transaction(database.db, async (trx) => {
      await enqueue(trx, [row('a', 1)]);
      await relay.runOnce();
      expect(ids()).toEqual([]);
    });
    await relay.runOnce();
    expect(ids()).toEqual(['a:1']);
  });

  it('publishes when woken, and goes on until nothing is left', async () => {
    const { database } = await openOutbox();
    const { relay, ids } = relayOf(database, { batchSize: 2 });
    await write(
      database,
      [1, 2, 3, 4, 5].map((seq) => row('a', seq)),
    );
    relay.wake();
    await vi.waitFor(() => expect(ids()).toEqual(['a:1', 'a:2', 'a:3', 'a:4', 'a:5']));
  });

  it('keeps the order of each key with two relays and many writers', async () => {
    const { database, url } = await openOutbox();
    const published: string[] = [];
    const publish = async ({ messageId }: OutboxMessage) => void published.push(messageId);
    const relays = [database, await open<OutboxSchema>(url)].map(
      (one) => relayOf(one, { publish, batchSize: 7 }).relay,
    );
    const writer = async (key: string) => {
      for (let seq = 1; seq <= 20; seq += 1) {
        await write(database, [row(key, seq)]);
        relays[seq % 2]?.wake();
      }
    };
    const keys = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(keys.map(writer));
    await vi.waitFor(async () => {
      for (const relay of relays) relay.wake();
      expect(await left(database)).toBe(0);
    });
    for (const key of keys) {
      const expected = Array.from({ length: 20 }, (_, index) => `${key}:${index + 1}`);
      expect(published.filter((id) => id.startsWith(key))).toEqual(expected);
    }
  });

  it('publishes again, in order, after a relay died between publishing and removing', async () => {
    const { database, url } = await openOutbox();
    await write(database, [row('a', 1), row('a', 2)]);
    const other = await open<OutboxSchema>(url);
    const dying = relayOf(other, {
      publish: async ({ messageId }) => {
        if (messageId === 'a:2') await terminateRelay(database);
      },
    });
    await expect(dying.relay.runOnce()).rejects.toThrow();
    await dying.relay.stop();
    const { relay, ids } = relayOf(database);
    await relay.runOnce();
    expect(ids()).toEqual(['a:1', 'a:2']);
  });

  it('stops a key at its first failure, lets the others pass and tries it again later', async () => {
    const { database } = await openOutbox();
    const clock = new FakeClock();
    const poison = new Set(['a:2']);
    const ids: string[] = [];
    const publish = async ({ messageId }: OutboxMessage) => {
      if (poison.has(messageId)) throw new Error('too large');
      ids.push(messageId);
    };
    const { relay } = relayOf(database, { publish, clock });
    await write(database, [row('a', 1), row('a', 2), row('a', 3), row('b', 1)]);
    await relay.runOnce();
    expect(ids.toSorted()).toEqual(['a:1', 'b:1']);
    poison.clear();
    await relay.runOnce();
    expect(ids).toHaveLength(2);
    await clock.advance(600);
    await relay.runOnce();
    expect(ids.slice(2)).toEqual(['a:2', 'a:3']);
  });

  it('passes over a key whose messages are refused for what they are, however many wait', async () => {
    const { database } = await openOutbox();
    const ids: string[] = [];
    const publish = async ({ orderingKey, messageId }: OutboxMessage) => {
      if (orderingKey === 'large') throw new ServiceError('body_too_large');
      ids.push(messageId);
    };
    const { relay } = relayOf(database, { publish, batchSize: 3 });
    await write(
      database,
      [1, 2, 3, 4].map((seq) => row('large', seq)),
    );
    await write(database, [row('b', 1)]);
    expect(await relay.runOnce()).toBe('more');
    await relay.runOnce();
    expect(ids).toEqual(['b:1']);
    expect(await left(database)).toBe(4);
  });

  it('leaves everything in place while the bus is away', async () => {
    const { database } = await openOutbox();
    await write(database, [row('a', 1), row('b', 1)]);
    const { relay } = relayOf(database, { publish: () => Promise.reject(new Error('no bus')) });
    await expect(relay.runOnce()).rejects.toThrow('nothing could be published');
    expect(await left(database)).toBe(2);
  });

  it('hands over what there is at once, and removes of a key only what came before a failure', async () => {
    const { database } = await openOutbox();
    await write(database, [row('a', 1), row('b', 1), row('a', 2), row('a', 3)]);
    const calls: string[][] = [];
    const publish: OutboxRelayOptions['publish'] = async (messages) => {
      calls.push(messages.map(({ messageId }) => messageId));
      return messages.map(({ messageId }) => (messageId === 'a:2' ? new Error('timeout') : undefined));
    };
    const relay = startOutboxRelay({ database, publish, clock: new FakeClock(), logger: quiet });
    onTestFinished(() => relay.stop());
    await relay.runOnce();
    expect(calls).toEqual([['a:1', 'a:2', 'a:3', 'b:1']]);
    expect(await left(database)).toBe(2);
  });

  it('rests after it has published, so that what is written meanwhile goes together', async () => {
    const { database } = await openOutbox();
    const clock = new FakeClock();
    const { relay, ids } = relayOf(database, { clock, restMs: 40 });
    await relay.runOnce();
    await clock.advance(40);
    await write(database, [row('a', 1)]);
    relay.wake();
    await vi.waitFor(() => expect(ids()).toEqual(['a:1']));
    await vi.waitFor(async () => expect(await left(database)).toBe(0));
    for (const seq of [2, 3]) {
      await write(database, [row('a', seq)]);
      relay.wake();
    }
    expect(ids()).toEqual(['a:1']);
    await vi.waitFor(async () => {
      await clock.advance(40);
      expect(ids()).toEqual(['a:1', 'a:2', 'a:3']);
    });
  });

  it('gives way to a relay that takes long', async () => {
    const { database, url } = await openOutbox();
    await write(database, [row('a', 1)]);
    let finish: () => void = () => undefined;
    const publishing = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const slow = relayOf(await open<OutboxSchema>(url), { publish: () => publishing });
    const busy = slow.relay.runOnce();
    await vi.waitUntil(async () => (await relayLocks(database)) === 1);
    const { relay, ids } = relayOf(database);
    expect(await relay.runOnce()).toBe('idle');
    expect(ids()).toEqual([]);
    finish();
    await busy;
    expect(await left(database)).toBe(0);
  });

  it('leaves no lock and no setting behind on its connection', async () => {
    const { database } = await openOutbox();
    await write(database, [row('a', 1)]);
    await relayOf(database).relay.runOnce();
    const settings = await Promise.all(
      Array.from({ length: 10 }, () =>
        sql`select current_setting('idle_session_timeout') as idle`.execute(database.db),
      ),
    );
    expect(await relayLocks(database)).toBe(0);
    expect(new Set(settings.map(({ rows }) => JSON.stringify(rows)))).toEqual(new Set(['[{"idle":"0"}]']));
  });

  it('asks for no lock and sets nothing while nothing waits, and keeps its connection', async () => {
    const { database, url } = await openOutbox();
    const { relay } = relayOf(database);
    await relay.runOnce();
    const session = async () => {
      const { rows } = await sql<{ idle: string; pid: number }>`
        select current_setting('idle_session_timeout') as idle, pg_backend_pid() as pid`.execute(database.db);
      return rows[0];
    };
    const before = await session();
    expect(before?.idle).toBe('0');
    const other = await open<OutboxSchema>(url);
    const held = sql`select pg_advisory_lock(hashtext('orrery.outbox'), hashtext(${database.schema}))`;
    await held.execute(other.db);
    expect(await relay.runOnce()).toBe('idle');
    expect(await session()).toEqual(before);
    await write(database, [row('a', 1)]);
    await relay.runOnce();
    expect(await left(database)).toBe(1);
  });
});

async function relayLocks({ db }: Outbox): Promise<number> {
  const held = sql`select from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())`;
  return (await held.execute(db)).rows.length;
}

/** Ends the connection that holds the relay's lock, as a crash of its process would. */
async function terminateRelay(database: Outbox): Promise<void> {
  await sql`select pg_terminate_backend(pid, 5000) from pg_locks
    where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`.execute(
    database.db,
  );
}
