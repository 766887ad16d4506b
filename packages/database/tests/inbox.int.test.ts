import {
  advance,
  attemptsOf,
  countAttempt,
  type Database,
  firstDeadLetter,
  goOnAfter,
  type InboxStream,
  inboxAttempts,
  inboxHashes,
  inboxMigration,
  migrate,
  positionOf,
  putDeadLetter,
  removeDeadLetter,
  startAt,
  streamsElsewhere,
  transaction,
} from '@orrery/database';
import { describe, expect, it } from 'vitest';
import { newDatabaseUrl, open, quiet } from './test-connection.js';

const stream: InboxStream = { consumer: 'pushes', key: '0xab' };

async function openInbox(): Promise<Database<unknown>> {
  const database = await open<unknown>(await newDatabaseUrl());
  const migrations = {
    '0001_inbox': inboxMigration,
    '0002_hashes': inboxHashes,
    '0003_attempts': inboxAttempts,
  };
  await migrate({ database, migrations, logger: quiet });
  return database;
}

const take = ({ db }: Database<unknown>, seq: number, of: InboxStream = stream) =>
  transaction(db, (trx) => advance(trx, of, seq));

describe('advance', () => {
  it('takes each number once and in order', async () => {
    const database = await openInbox();
    const steps = [];
    for (const seq of [2, 1, 1, 3, 2, 1, 3, 5]) steps.push(await take(database, seq));
    expect(steps).toEqual(['gap', 'next', 'seen', 'gap', 'next', 'seen', 'next', 'gap']);
  });

  it('keeps consumers and keys apart', async () => {
    const database = await openInbox();
    await take(database, 1);
    expect(await take(database, 1, { consumer: 'schedules', key: '0xab' })).toBe('next');
    expect(await take(database, 1, { consumer: 'pushes', key: '0xcd' })).toBe('next');
  });

  it('does not move when the effect is rolled back', async () => {
    const database = await openInbox();
    const failing = transaction(database.db, async (trx) => {
      await advance(trx, stream, 1);
      throw new Error('no effect');
    });
    await expect(failing).rejects.toThrow('no effect');
    expect(await take(database, 1)).toBe('next');
  });

  it('lets one of several that take the same number at once have it', async () => {
    const database = await openInbox();
    for (const seq of [1, 2, 3]) {
      const steps = await Promise.all(Array.from({ length: 6 }, () => take(database, seq)));
      expect(steps.toSorted()).toEqual(['next', 'seen', 'seen', 'seen', 'seen', 'seen']);
    }
  });

  it('begins after a snapshot and never goes back', async () => {
    const database = await openInbox();
    await transaction(database.db, (trx) => startAt(trx, stream, 7));
    expect(await take(database, 7)).toBe('seen');
    expect(await take(database, 8)).toBe('next');
    await transaction(database.db, (trx) => startAt(trx, stream, 7));
    expect(await positionOf(database.db, stream)).toEqual({ seq: 8, hash: null });
  });
});

describe('the hash of the last message', () => {
  const link = (hash: string, prevHash: string) => ({ hash, prevHash });

  it('shows that a message follows another one than was taken', async () => {
    const { db } = await openInbox();
    const taken = (seq: number, hash: string, prevHash: string) =>
      transaction(db, (trx) => advance(trx, stream, seq, link(hash, prevHash)));
    expect(await taken(1, 'a', '')).toBe('next');
    expect(await taken(2, 'c', 'b')).toBe('forked');
    expect(await taken(3, 'd', 'c')).toBe('gap');
    expect(await taken(2, 'b', 'a')).toBe('next');
    expect(await taken(2, 'b', 'a')).toBe('seen');
    expect(await taken(2, 'x', 'a')).toBe('forked');
    await transaction(db, (trx) => startAt(trx, stream, 3, 'x'));
    expect(await taken(4, 'y', 'x')).toBe('next');
  });

  it('is not compared where the stream does not know it', async () => {
    const { db } = await openInbox();
    await transaction(db, (trx) => startAt(trx, stream, 1));
    expect(await transaction(db, (trx) => advance(trx, stream, 2, link('b', 'a')))).toBe('next');
  });
});

it('goOnAfter takes a stream back, to numbers that other messages have now', async () => {
  const { db } = await openInbox();
  await transaction(db, (trx) => startAt(trx, stream, 5, 'e'));
  await transaction(db, (trx) => goOnAfter(trx, stream, { seq: 3, hash: 'x' }));
  expect(await positionOf(db, stream)).toEqual({ seq: 3, hash: 'x' });
  const next = { hash: 'y', prevHash: 'x' };
  expect(await transaction(db, (trx) => advance(trx, stream, 4, next))).toBe('next');
});

describe('attempts', () => {
  it('are counted for one number of a stream, and anew for the next', async () => {
    const { db } = await openInbox();
    expect(await attemptsOf(db, stream, 4)).toBe(0);
    expect([await countAttempt(db, stream, 4), await countAttempt(db, stream, 4)]).toEqual([1, 2]);
    expect(await attemptsOf(db, stream, 4)).toBe(2);
    expect(await countAttempt(db, stream, 5)).toBe(1);
    expect(await attemptsOf(db, stream, 4)).toBe(0);
  });
});

describe('streamsElsewhere', () => {
  it('names the streams that do not end at their head, without those that a dead letter stops', async () => {
    const { db } = await openInbox();
    const message = { seq: 2, reason: 'unknown chain', payload: [] };
    const heads = [
      { key: 'level', seq: 3, hash: 'c' },
      { key: 'behind', seq: 4, hash: 'd' },
      { key: 'stopped', seq: 4, hash: 'd' },
      { key: 'other entries', seq: 3, hash: 'x' },
      { key: 'shorter', seq: 2, hash: 'b' },
      { key: 'new', seq: 1, hash: 'a' },
      { key: 'unknown hash', seq: 3, hash: 'c' },
    ];
    await transaction(db, async (trx) => {
      for (const { key } of heads.slice(0, 5)) await startAt(trx, { ...stream, key }, 3, 'c');
      await startAt(trx, { ...stream, key: 'unknown hash' }, 3);
      await putDeadLetter(trx, { ...stream, key: 'stopped' }, message);
    });
    const named = await streamsElsewhere(db, stream.consumer, heads);
    expect(named.toSorted()).toEqual(['behind', 'new', 'other entries', 'shorter']);
  });
});

describe('a dead letter', () => {
  it('keeps the first message and its reason until it is taken out', async () => {
    const database = await openInbox();
    const message = { seq: 4, reason: 'unknown chain', payload: [{ a: 1 }] };
    await transaction(database.db, (trx) => putDeadLetter(trx, stream, message));
    await transaction(database.db, (trx) => putDeadLetter(trx, stream, { ...message, reason: 'again' }));
    expect(await firstDeadLetter(database.db, stream)).toEqual(message);
    expect(await firstDeadLetter(database.db, { ...stream, key: '0xcd' })).toBeUndefined();
    expect(await transaction(database.db, (trx) => removeDeadLetter(trx, stream, 4))).toBe(true);
    expect(await transaction(database.db, (trx) => removeDeadLetter(trx, stream, 4))).toBe(false);
    expect(await firstDeadLetter(database.db, stream)).toBeUndefined();
  });
});
