import { ServiceError } from '@orrery/contracts';
import {
  type Database,
  enqueue,
  migrate,
  type NewOutboxRow,
  type OutboxMessage,
  type OutboxSchema,
  outboxMigration,
  outboxShardIndex,
  outboxShards,
  type RelayOptions,
  startRelay,
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
  const migrations = {
    '0001_outbox': outboxMigration,
    '0002_outbox_shards': outboxShards,
    '0003_outbox_shard_index': outboxShardIndex,
  };
  await migrate({ database, migrations, logger: quiet });
  return { database, url };
}

const row = (orderingKey: string, orderingSeq: number): NewOutboxRow => ({
  name: 'entry',
  orderingKey,
  orderingSeq,
  messageId: `${orderingKey}:${orderingSeq}`,
  payload: { seq: orderingSeq },
});

const write = ({ db }: Outbox, rows: readonly NewOutboxRow[]) => transaction(db, (trx) => enqueue(trx, rows));
const left = async ({ pool }: Outbox): Promise<number> =>
  (await pool.query('select count(*) as rows from outbox')).rows[0].rows;

type PublishOne = (message: OutboxMessage) => Promise<void>;

/** As the bus does it: after a failure nothing more of its key. */
const each =
  (publish: PublishOne): RelayOptions['publish'] =>
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

type RelayParts = Omit<Partial<RelayOptions>, 'publish'> & { publish?: PublishOne };

/** A relay that runs when the test says so: its clock stands still. */
function relayOf(database: Outbox, { publish, ...more }: RelayParts = {}) {
  const published: OutboxMessage[] = [];
  const note = async (message: OutboxMessage) => void published.push(message);
  const options = { database, publish: each(publish ?? note), clock: new FakeClock(), logger: quiet };
  const relay = startRelay({ ...options, ...more });
  onTestFinished(() => relay.stop());
  return { relay, published, ids: () => published.map(({ messageId }) => messageId) };
}

describe('enqueue and startRelay', () => {
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
      { messageId: 'a:1', orderingSeq: 1, payload: { seq: 1 }, name: 'entry' },
      { messageId: 'a:2', orderingSeq: 2 },
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

  it('loads the payloads of rows that only refer to an entry', async () => {
    const { database } = await openOutbox();
    const { payload: _, ...reference } = row('a', 1);
    await write(database, [reference, row('a', 2)]);
    const load = vi.fn<NonNullable<RelayOptions['load']>>(
      async (rows) => new Map(rows.map(({ id }) => [id, 'loaded'])),
    );
    const { relay, published } = relayOf(database, { load });
    await relay.runOnce();
    expect(published.map(({ payload }) => payload)).toEqual(['loaded', { seq: 2 }]);
    expect(load.mock.calls.map(([rows]) => rows.length)).toEqual([1]);
  });

  it('does not publish a row without its payload', async () => {
    const { database } = await openOutbox();
    const { payload: _, ...reference } = row('a', 1);
    await write(database, [reference, row('a', 2), row('b', 1)]);
    const { relay, ids } = relayOf(database);
    await relay.runOnce();
    expect(ids()).toEqual(['b:1']);
    expect(await left(database)).toBe(2);
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
    const publish: RelayOptions['publish'] = async (messages) => {
      calls.push(messages.map(({ messageId }) => messageId));
      return messages.map(({ messageId }) => (messageId === 'a:2' ? new Error('timeout') : undefined));
    };
    const relay = startRelay({ database, publish, clock: new FakeClock(), logger: quiet });
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

  it('publishes the rows of its own shards, beside a relay that takes long, and leaves those of others', async () => {
    const { database, url } = await openOutbox();
    const other = await open<OutboxSchema>(url);
    const rows = [1, 2].flatMap((seq) => [
      { ...row('a', seq), shard: 3 },
      { ...row('b', seq), shard: 4 },
    ]);
    await write(database, [...rows, row('c', 1), { ...row('d', 1), shard: 5 }]);
    const slow = standingStill(other, [3]);
    expect(await slow.began()).toEqual(['a:1']);
    const { relay, ids } = relayOf(database, { shards: () => [4] });
    await relay.runOnce();
    expect(ids()).toEqual(['b:1', 'b:2', 'c:1']);
    await slow.goOn();
    expect(await left(database)).toBe(1);
    const { relay: heir, ids: inherited } = relayOf(database, { shards: () => [4, 5] });
    await heir.runOnce();
    expect(inherited()).toEqual(['d:1']);
  });

  it('publishes the rows of all shards when it is the only relay', async () => {
    const { database } = await openOutbox();
    await write(database, [{ ...row('a', 1), shard: 3 }, row('c', 1), { ...row('d', 1), shard: 5 }]);
    const { relay, ids } = relayOf(database, { shards: () => 'all' });
    await relay.runOnce();
    expect(ids()).toEqual(['a:1', 'd:1', 'c:1']);
    expect(await left(database)).toBe(0);
  });

  it('reads no more of its own shards when many rows of others wait', async () => {
    const { database } = await openOutbox();
    const query = vi.spyOn(database.pool, 'query');
    const { relay } = relayOf(database, { shards: () => [1, 2, 3] });
    await relay.runOnce();
    const [look] = query.mock.calls.map(
      ([statement]) => statement as unknown as { text: string; values: [] },
    );
    query.mockRestore();
    const pagesRead = async () => {
      const { rows } = await database.pool.query(
        `explain (analyze, buffers, format json) ${look?.text}`,
        look?.values,
      );
      const { Plan: plan } = rows[0]['QUERY PLAN'][0];
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    };
    await sql`insert into outbox (name, ordering_key, ordering_seq, message_id, shard)
      select 'entry', 'd' || i % 50, i, i::text, 4 + i % 60 from generate_series(1, 20000) i`.execute(
      database.db,
    );
    expect(await pagesRead()).toBeLessThan(20);
    await sql`analyze outbox`.execute(database.db);
    expect(await pagesRead()).toBeLessThan(20);
  });

  it('gives each of its shards its turn while one has more than fits into a batch', async () => {
    const { database } = await openOutbox();
    const many = Array.from({ length: 40 }, (_, index) => ({ ...row('a', index + 1), shard: 1 }));
    await write(database, [...many, { ...row('b', 1), shard: 2 }]);
    const { relay, ids } = relayOf(database, { shards: () => [1, 2], batchSize: 2 });
    const random = vi.spyOn(Math, 'random');
    onTestFinished(() => random.mockRestore());
    random.mockReturnValue(0.1);
    expect(await relay.runOnce()).toBe('more');
    random.mockReturnValue(0.9);
    expect(await relay.runOnce()).toBe('more');
    expect(ids()).toContain('b:1');
  });

  it('publishes the rows without a shard while nothing of its own shards can be published', async () => {
    const { database } = await openOutbox();
    await write(database, [{ ...row('own', 1), shard: 1 }, row('c', 1)]);
    const ids: string[] = [];
    const publish = async ({ orderingKey, messageId }: OutboxMessage) => {
      if (orderingKey === 'own') throw new Error('no answer');
      ids.push(messageId);
    };
    const { relay } = relayOf(database, { publish, shards: () => [1] });
    await expect(relay.runOnce()).rejects.toThrow('nothing could be published');
    expect(ids).toEqual(['c:1']);
    expect(await left(database)).toBe(1);
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

/** A relay of these shards that is in its first publication until it is told to go on. */
function standingStill(database: Outbox, shards: readonly number[]) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const publish = vi.fn<PublishOne>(() => released);
  const { relay } = relayOf(database, { publish, shards: () => shards });
  const done = relay.runOnce();
  return {
    began: async () => {
      await vi.waitUntil(() => publish.mock.calls.length > 0);
      return publish.mock.calls.map(([{ messageId }]) => messageId);
    },
    goOn: async () => {
      release();
      await done;
    },
  };
}

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
