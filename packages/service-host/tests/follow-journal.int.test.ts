import { randomBytes } from 'node:crypto';
import { type Bus, connectBus, createInProcessHub } from '@orrery/bus';
import {
  defineContract,
  type JournalFact,
  journalEntry,
  journalRpcs,
  newAddress,
  ServiceError,
} from '@orrery/contracts';
import {
  connect,
  type Database,
  inboxAttempts,
  inboxHashes,
  inboxMigration,
  inboxResolutions,
  migrate,
  parkedMessage,
  requestResolution,
  transaction,
} from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type FollowJournalOptions, followJournal } from '../src/index.js';

const logger = createLogger({ service: 'test', level: 'silent' });
const clock = systemClock;
const common = { service: 'test', logger, clock };

interface Effects {
  effects: { deployment: string; seq: number };
}

/** The runtime's part: journals of this test file, and `journal.range` over them. */
const journals = new Map<string, JournalFact[]>();
const runtime = defineContract('runtime', journalRpcs);

function entryOf(deployment: string, seq: number, prevHash = '0'.repeat(64)): JournalFact {
  const hash = randomBytes(32).toString('hex');
  return {
    v: 1,
    deployment,
    id: crypto.randomUUID(),
    seq,
    kind: 'execution',
    event: 'race',
    eventVersion: 1,
    versionHash: hash,
    trigger: 'admin',
    caller: 'account:1',
    status: 'succeeded',
    input: {},
    changes: [],
    result: null,
    error: null,
    llmHash: null,
    attestation: null,
    paymentKey: null,
    executedAt: '2026-11-22T00:00:00.000Z',
    prevHash,
    hash,
    worldAddress: newAddress(),
    inputHash: hash,
    stateChanges: {},
    binding: null,
  };
}

/** A journal of this length. */
function journal(length: number) {
  const deployment = newAddress();
  const entries: JournalFact[] = [];
  for (let seq = 1; seq <= length; seq += 1) entries.push(entryOf(deployment, seq, entries.at(-1)?.hash));
  journals.set(deployment, entries);
  return { deployment, entries };
}

async function openDatabase(): Promise<Database<Effects>> {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const address = { url: testDatabase.url, schema: 'pushes', applicationName: 'test' };
  const database = await connect<Effects>({ ...address, logger });
  onTestFinished(() => database.close());
  const migrations = {
    '0001_inbox': inboxMigration,
    '0002_inbox_hashes': inboxHashes,
    '0003_inbox_attempts': inboxAttempts,
    '0004_inbox_resolutions': inboxResolutions,
  };
  await migrate({ database, migrations, logger });
  await sql`create table effects (id bigint generated always as identity, deployment text not null, seq bigint not null)`.execute(
    database.db,
  );
  return database;
}

/** Joins the bus as a service, until the test ends. */
type Join = () => Promise<Bus>;

const suite = (openBus: () => Promise<Join>) => {
  /** A bus with a runtime and a follower that records each entry; `refuse` may throw for one. */
  const following = async (
    refuse: (entry: JournalFact) => void = () => undefined,
    more: Partial<FollowJournalOptions<Effects>> = {},
  ) => {
    const join = await openBus();
    /** Deployments that `journal.heads` answers. */
    const polled = new Set<string>();
    const [publisher, bus] = [await join(), await join()];
    const ranges = vi.fn();
    await publisher.serve(runtime, {
      'journal.range': async ({ deployment, after, limit }) => {
        ranges(deployment, after);
        const entries = journals.get(deployment);
        if (entries === undefined) throw new ServiceError('deployment_not_found');
        // Pages of two show that the follower reads on.
        return { entries: entries.slice(after, after + Math.min(limit, 2)), head: entries.length };
      },
      // Pages of three, by the order of the journals; what was polled once is told again.
      'journal.heads': async ({ after }) => {
        const from = after?.deploymentId ?? 0;
        const all = [...journals].filter(([deployment]) => polled.has(deployment));
        const page = all.slice(from, from + 3);
        return {
          heads: page.map(([deployment, entries]) => ({
            deployment,
            seq: entries.length,
            hash: entries.at(-1)?.hash ?? '',
          })),
          next: from + 3 < all.length ? { minute: 0, deploymentId: from + 3 } : null,
          until: new Date().toISOString(),
        };
      },
    });
    const database = await openDatabase();
    const attempts = vi.fn();
    const stop = new AbortController();
    const consumer = `follower-${crypto.randomUUID()}`;
    /** Deliveries that the consumer is done with, in their order; those of other tests are among them. */
    const acknowledged: { deployment: string; seq: number }[] = [];
    const noting: Pick<Bus, 'call' | 'consume'> = {
      call: bus.call,
      consume: (message, { handle, ...options }) =>
        bus.consume(message, {
          ...options,
          handle: async (payload) => {
            const { deployment, seq } = journalEntry.payload.parse(payload);
            await handle(payload);
            acknowledged.push({ deployment, seq });
          },
        }),
    };
    const follower = await followJournal<Effects>({
      ...common,
      consumer,
      database,
      bus: noting,
      handle: async (trx, entry) => {
        attempts(entry.deployment, entry.seq);
        await trx.insertInto('effects').values({ deployment: entry.deployment, seq: entry.seq }).execute();
        refuse(entry);
      },
      maxAttempts: 3,
      retryBaseMs: 5,
      pollMs: 50,
      signal: stop.signal,
      ...more,
    });
    const end = async () => {
      stop.abort();
      await follower.ended();
    };
    onTestFinished(end);
    const publish = (entry: JournalFact, id: string = entry.id) =>
      publisher.publish(journalEntry, entry, { id, orderingKey: entry.deployment });
    const effects = async (deployment: string) => {
      const rows = await database.db
        .selectFrom('effects')
        .select('seq')
        .where('deployment', '=', deployment)
        .orderBy(sql`id`)
        .execute();
      return rows.map(({ seq }) => seq);
    };
    const untilEffects = (deployment: string, seqs: readonly number[]) =>
      vi.waitFor(async () => expect(await effects(deployment)).toEqual(seqs));
    const attemptsOf = (entry: JournalFact | undefined) =>
      attempts.mock.calls.filter(
        ([deployment, seq]) => deployment === entry?.deployment && seq === entry?.seq,
      ).length;
    return {
      ...{ follower, database, consumer, publish, effects, untilEffects, ranges, attemptsOf },
      ...{ polled, acknowledged, end },
    };
  };

  it('handles the entries of a deployment in order, without asking the runtime', async () => {
    const { publish, untilEffects, ranges } = await following();
    const { deployment, entries } = journal(20);
    for (const entry of entries) await publish(entry);
    await untilEffects(
      deployment,
      [...Array(20).keys()].map((index) => index + 1),
    );
    expect(ranges).not.toHaveBeenCalledWith(deployment, expect.anything());
  });

  it('reads entries that did not come from the runtime, page by page, before it goes on', async () => {
    const { publish, untilEffects, ranges } = await following();
    const { deployment, entries } = journal(8);
    for (const index of [0, 1, 7]) if (entries[index]) await publish(entries[index]);
    await untilEffects(deployment, [1, 2, 3, 4, 5, 6, 7, 8]);
    expect(ranges.mock.calls.filter(([of]) => of === deployment)).toEqual(
      [1, 3, 5, 7].map((after) => [deployment, after]),
    );
  });

  it('handles what it is far behind with page by page, each page in one transaction', async () => {
    const transactions = new Map<number, string>();
    const { deployment, entries } = journal(9);
    const { publish, untilEffects } = await following(undefined, {
      handle: async (trx, { deployment: of, seq }) => {
        await trx.insertInto('effects').values({ deployment: of, seq }).execute();
        const { rows } = await sql<{ id: string }>`select txid_current()::text as id`.execute(trx);
        if (of === deployment) transactions.set(seq, rows[0]?.id ?? '');
      },
    });
    if (entries[8]) await publish(entries[8]);
    await untilEffects(deployment, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const of = (seq: number) => transactions.get(seq);
    expect(of(1)).not.toBe(of(2));
    expect([of(3), of(5), of(7)]).toEqual([of(4), of(6), of(8)]);
  });

  it('takes a page one by one where an entry of it fails, which alone becomes a dead letter', async () => {
    const { deployment, entries } = journal(8);
    const { follower, publish, untilEffects, effects } = await following((entry) => {
      if (entry.deployment === deployment && entry.seq === 6) throw new Error('It cannot be handled.');
    });
    if (entries[7]) await publish(entries[7]);
    await vi.waitFor(async () => expect((await follower.deadLetter(deployment))?.seq).toBe(6));
    expect(await effects(deployment)).toEqual([1, 2, 3, 4, 5]);
    await follower.skip(deployment);
    await untilEffects(deployment, [1, 2, 3, 4, 5, 7, 8]);
  });

  it('does with a dead letter what an operator asks for, though its journal goes on no more', async () => {
    const { deployment, entries } = journal(4);
    let isMended = false;
    const refuse = ({ deployment: of, seq }: JournalFact) => {
      if (of === deployment && (seq === 3 || (seq === 2 && !isMended)))
        throw new Error(`${seq} cannot be handled.`);
    };
    const { database, consumer, publish, untilEffects, attemptsOf } = await following(refuse);
    const stream = { consumer, key: deployment };
    const found = () => parkedMessage(database.db, stream);
    if (entries[3]) await publish(entries[3]);
    await vi.waitFor(async () => expect(await found()).toMatchObject({ seq: 2, resolution: null }));
    const before = attemptsOf(entries[1]);
    await requestResolution(database.db, stream, 'retry');
    await vi.waitFor(async () => {
      expect(attemptsOf(entries[1])).toBeGreaterThan(before);
      // In vain: it is a dead letter anew.
      expect(await found()).toMatchObject({ seq: 2, resolution: null });
    });
    isMended = true;
    await requestResolution(database.db, stream, 'retry');
    await vi.waitFor(async () => expect(await found()).toMatchObject({ seq: 3, resolution: null }));
    await untilEffects(deployment, [1, 2]);
    await requestResolution(database.db, stream, 'skip');
    await untilEffects(deployment, [1, 2, 4]);
    expect(await found()).toBeUndefined();
  });

  it.each(['skip', 'retry'] as const)(
    'does not %s an entry for which nobody asked: another process has resolved the one that was meant',
    async (resolution) => {
      const [long, other, later] = [journal(3), journal(4), journal(1)];
      const [begun, ending] = [deferred(), deferred()];
      onTestFinished(ending.resolve);
      const { database, consumer, follower, publish, polled, untilEffects } = await following(undefined, {
        handle: async (trx, { deployment, seq }) => {
          if (deployment === long.deployment && seq === 3) {
            begun.resolve();
            await ending.promise;
          }
          if (seq === 2 || (deployment === other.deployment && seq === 3))
            throw new Error(`${seq} cannot be handled.`);
          await trx.insertInto('effects').values({ deployment, seq }).execute();
        },
      });
      const streamOf = ({ deployment }: typeof long) => ({ consumer, key: deployment });
      for (const stopped of [long, other]) {
        for (const entry of stopped.entries) await publish(entry);
        await vi.waitFor(async () =>
          expect(await follower.deadLetter(stopped.deployment)).toMatchObject({ seq: 2 }),
        );
      }
      // Both are read at once, and the first one takes long.
      await transaction(database.db, async (trx) => {
        await requestResolution<Effects>(trx, streamOf(long), 'skip');
        await requestResolution<Effects>(trx, streamOf(other), resolution);
      });
      await begun.promise;
      // As another process does it: this passes entry 2, goes on, and entry 3 stops it with its own reason.
      await expect(follower.skip(other.deployment)).rejects.toThrow('3 cannot be handled.');
      const unasked = await parkedMessage(database.db, streamOf(other));
      expect(unasked).toMatchObject({ seq: 3, resolution: null });
      ending.resolve();
      // Heads are compared after what was asked for.
      polled.add(later.deployment);
      await untilEffects(later.deployment, [1]);
      expect(await parkedMessage(database.db, streamOf(other))).toEqual(unasked);
      await untilEffects(other.deployment, [1]);
      await untilEffects(long.deployment, [1, 3]);
    },
  );

  it('reads again and again while the runtime cannot give the entries before one that came', async () => {
    const { publish, untilEffects, effects, ranges } = await following();
    const { deployment, entries } = journal(3);
    journals.delete(deployment);
    for (const entry of entries.slice(1)) await publish(entry);
    await vi.waitFor(() =>
      expect(ranges.mock.calls.filter(([of]) => of === deployment).length).toBeGreaterThan(4),
    );
    expect(await effects(deployment)).toEqual([]);
    journals.set(deployment, entries);
    await untilEffects(deployment, [1, 2, 3]);
  });

  it('has one effect of an entry that is delivered repeatedly', async () => {
    const { publish, untilEffects, attemptsOf } = await following();
    const { deployment, entries } = journal(4);
    for (const entry of entries.slice(0, 3)) {
      await publish(entry);
      await publish(entry, `${entry.id} again`);
    }
    if (entries[3]) await publish(entries[3]);
    await untilEffects(deployment, [1, 2, 3, 4]);
    expect(entries.map(attemptsOf)).toEqual([1, 1, 1, 1]);
  });

  it('retries an entry whose handling failed, and leaves no effect of the failed attempts', async () => {
    let failures = 2;
    const { publish, untilEffects } = await following(({ seq }) => {
      if (seq === 2 && failures-- > 0) throw new Error('not now');
    });
    const { deployment, entries } = journal(4);
    for (const entry of entries) await publish(entry);
    await untilEffects(deployment, [1, 2, 3, 4]);
  });

  it('makes a dead letter after the last attempt, which stops only its own deployment', async () => {
    const poisoned = journal(4);
    const well = journal(4);
    const { follower, publish, untilEffects, effects, attemptsOf } = await following((entry) => {
      if (entry.deployment === poisoned.deployment && entry.seq === 2) throw new Error('unknown chain');
    });
    for (const index of [0, 1, 2])
      for (const { entries } of [poisoned, well]) if (entries[index]) await publish(entries[index]);
    await vi.waitFor(async () =>
      expect(await follower.deadLetter(poisoned.deployment)).toMatchObject({
        seq: 2,
        reason: 'unknown chain',
        payload: { id: poisoned.entries[1]?.id },
      }),
    );
    for (const { entries } of [poisoned, well]) if (entries[3]) await publish(entries[3]);
    if (poisoned.entries[1]) await publish(poisoned.entries[1], 'delivered again');
    await untilEffects(well.deployment, [1, 2, 3, 4]);
    expect(await follower.deadLetter(well.deployment)).toBeUndefined();
    expect(attemptsOf(poisoned.entries[1])).toBe(3);
    expect(await effects(poisoned.deployment)).toEqual([1]);
  });

  it('goes on when an operator has the dead letter retried, or skipped', async () => {
    let isPoison = true;
    const retried = journal(4);
    const skipped = journal(4);
    const { follower, publish, untilEffects } = await following(({ seq }) => {
      if (isPoison && seq === 2) throw new Error('unknown chain');
    });
    const untilStopped = (deployment: string) =>
      vi.waitFor(async () => expect(await follower.deadLetter(deployment)).toBeDefined());
    for (const { deployment, entries } of [retried, skipped]) {
      for (const entry of entries) await publish(entry);
      await untilStopped(deployment);
    }
    // Nothing is lost there.
    expect(await follower.skipLost(skipped.deployment)).toBe(false);
    expect(await follower.deadLetter(skipped.deployment)).toMatchObject({ seq: 2 });
    expect(await follower.skip(skipped.deployment)).toBe(true);
    await untilEffects(skipped.deployment, [1, 3, 4]);
    expect(await follower.skip(skipped.deployment)).toBe(false);

    await expect(follower.retry(retried.deployment)).rejects.toThrow('unknown chain');
    await untilStopped(retried.deployment);
    isPoison = false;
    expect(await follower.retry(retried.deployment)).toBe(true);
    await untilEffects(retried.deployment, [1, 2, 3, 4]);
    expect(await follower.deadLetter(retried.deployment)).toBeUndefined();
  });

  it('handles what the bus never delivered: the tail of a quiet deployment', async () => {
    const { polled, untilEffects } = await following();
    const quiet = Array.from({ length: 8 }, () => journal(3));
    for (const { deployment } of quiet) polled.add(deployment);
    for (const { deployment } of quiet) await untilEffects(deployment, [1, 2, 3]);
    const late = journal(1);
    polled.add(late.deployment);
    await untilEffects(late.deployment, [1]);
  });

  it('holds no deliveries of deployments that wait for their next attempt, and goes on for others', async () => {
    const failing = Array.from({ length: 100 }, () => journal(2));
    const ofFailing = new Set(failing.map(({ deployment }) => deployment));
    const { publish, untilEffects, attemptsOf, acknowledged } = await following(
      ({ deployment }) => {
        if (ofFailing.has(deployment)) throw new Error('not now');
      },
      { retryBaseMs: 600_000 },
    );
    for (const { entries } of failing) for (const entry of entries) await publish(entry);
    const well = journal(3);
    for (const entry of well.entries) await publish(entry);
    await untilEffects(well.deployment, [1, 2, 3]);
    await vi.waitFor(() =>
      expect(failing.map(({ entries }) => entries.map(attemptsOf))).toEqual(failing.map(() => [1, 0])),
    );
    const ofThem = () => acknowledged.filter(({ deployment }) => ofFailing.has(deployment));
    await vi.waitFor(() => expect(ofThem()).toHaveLength(200));
  });

  it('makes a dead letter of an entry that ends its process each time', async () => {
    const { deployment, entries } = journal(2);
    const [database, consumer] = [await openDatabase(), `follower-${crypto.randomUUID()}`];
    const shared = { database, consumer, maxAttempts: 3 };
    for (let round = 1; round <= 3; round += 1) {
      const begun = deferred();
      const ended = deferred();
      const more = {
        ...shared,
        handle: async (_trx: unknown, entry: JournalFact) => {
          if (entry.deployment !== deployment) return;
          begun.resolve();
          await ended.promise;
          // Rolled back and not counted, as when the process ends.
          throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
        },
      };
      const { polled, end } = await following(undefined, more);
      polled.add(deployment);
      await begun.promise;
      const stopped = end();
      ended.resolve();
      await stopped;
    }
    const handled: number[] = [];
    const handle = async (_trx: unknown, { deployment: of, seq }: JournalFact) => {
      if (of === deployment) handled.push(seq);
    };
    const { polled, follower } = await following(undefined, { ...shared, handle });
    polled.add(deployment);
    await vi.waitFor(async () =>
      expect(await follower.deadLetter(deployment)).toMatchObject({
        seq: 1,
        reason: expect.stringContaining('3 attempts'),
      }),
    );
    expect(handled).toEqual([]);
    expect(await follower.retry(deployment)).toBe(true);
    expect(handled).toEqual(entries.map(({ seq }) => seq));
  });

  /** A consumer that has handled a journal of this length, the last entries of which are then lost. */
  const afterLoss = async (handled: number, kept: number) => {
    const setting = await following();
    const { deployment, entries } = journal(handled);
    for (const entry of entries) await setting.publish(entry);
    const seqs = entries.map(({ seq }) => seq);
    await setting.untilEffects(deployment, seqs);
    const lost = entries.splice(kept);
    const add = (more: Partial<JournalFact> = {}) => {
      const entry = entryOf(deployment, entries.length + 1, entries.at(-1)?.hash);
      entries.push({ ...entry, ...more });
    };
    const end = lost.at(-1);
    const addTailLost = () =>
      add({ kind: 'tail_lost', input: { seq: end?.seq ?? null, hash: end?.hash ?? null } });
    const untilStopped = (seq: number) =>
      vi.waitFor(async () =>
        expect(await setting.follower.deadLetter(deployment)).toMatchObject({
          seq,
          reason: expect.stringMatching(/^tail_lost: .*lost entries/),
        }),
      );
    return { ...setting, deployment, entries, lost, add, addTailLost, untilStopped };
  };

  it.each([
    ['shorter than what was handled', 3],
    ['as long as it', 4],
    ['longer', 6],
  ])(
    'stops a deployment whose journal lost entries that were handled and is now %s, and handles what replaced them',
    async (_, length) => {
      const { deployment, follower, polled, add, addTailLost, untilStopped, untilEffects, lost } =
        await afterLoss(4, 2);
      expect(lost).toHaveLength(2);
      addTailLost();
      for (let seq = 4; seq <= length; seq += 1) add();
      polled.add(deployment);
      await untilStopped(3);
      add();
      expect(await follower.skip(deployment)).toBe(true);
      const replacements = Array.from({ length: length - 2 }, (__, index) => index + 4);
      await untilEffects(deployment, [1, 2, 3, 4, ...replacements]);
    },
  );

  it('stops it when the entry that says so is delivered, long before the heads are compared', async () => {
    const { entries, publish, addTailLost, untilStopped } = await afterLoss(4, 2);
    addTailLost();
    if (entries[2]) await publish(entries[2]);
    await untilStopped(3);
  });

  it('stops it where nothing says so: at the number that was handled last', async () => {
    const { deployment, follower, polled, add, untilStopped, untilEffects } = await afterLoss(3, 2);
    for (const _ of [3, 4, 5]) add();
    polled.add(deployment);
    await untilStopped(3);
    expect(await follower.skipLost(deployment)).toBe(true);
    await untilEffects(deployment, [1, 2, 3, 4, 5]);
  });

  it('goes on when a lost entry, or one that says what was lost, is delivered late', async () => {
    const { deployment, entries, lost, follower, polled, add, addTailLost, untilStopped, ...setting } =
      await afterLoss(4, 2);
    addTailLost();
    add();
    polled.add(deployment);
    await untilStopped(3);
    expect(await follower.skip(deployment)).toBe(true);
    await setting.untilEffects(deployment, [1, 2, 3, 4, 4]);
    for (const entry of [...lost, entries[2]])
      if (entry !== undefined) await setting.publish(entry, `${entry.id} late`);
    await vi.waitFor(() =>
      expect(setting.acknowledged.filter((one) => one.deployment === deployment)).toEqual(
        [1, 2, 3, 4, 3, 4, 3].map((seq) => ({ deployment, seq })),
      ),
    );
    add();
    await setting.untilEffects(deployment, [1, 2, 3, 4, 4, 5]);
    expect(await follower.deadLetter(deployment)).toBeUndefined();
  });

  it('compares heads more slowly, but goes on, while more deployments pause than are kept at once', async () => {
    const failing = Array.from({ length: 5 }, () => journal(1));
    const ofFailing = new Set(failing.map(({ deployment }) => deployment));
    const { polled, untilEffects, attemptsOf } = await following(
      ({ deployment }) => {
        if (ofFailing.has(deployment)) throw new Error('not now');
      },
      { retryBaseMs: 60_000, mostAtOnce: 2 },
    );
    for (const { deployment } of failing) polled.add(deployment);
    await vi.waitFor(() =>
      expect(failing.map(({ entries }) => attemptsOf(entries[0]))).toEqual([1, 1, 1, 1, 1]),
    );
    const late = journal(1);
    polled.add(late.deployment);
    await untilEffects(late.deployment, [1]);
  });

  it.each([
    ['is away', 'ECONNREFUSED'],
    ['has a table locked, as for a migration', '55P03'],
  ])('makes no dead letter while the database %s', async (_what, code) => {
    const { deployment, entries } = journal(1);
    let failures = 5;
    const { follower, publish, untilEffects, attemptsOf } = await following((entry) => {
      if (entry.deployment === deployment && failures-- > 0) throw Object.assign(new Error('away'), { code });
    });
    if (entries[0]) await publish(entries[0]);
    await untilEffects(deployment, [1]);
    expect(attemptsOf(entries[0])).toBe(6);
    expect(await follower.deadLetter(deployment)).toBeUndefined();
  });
};

describe('following journals on the in-process bus', () =>
  suite(async () => {
    const hub = createInProcessHub(common);
    return () => joined(connectBus({ ...common, url: undefined, hub }));
  }));

describeWithNats('following journals over NATS', (url) =>
  suite(async () => () => joined(connectBus({ ...common, url }))),
);

function deferred() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

async function joined(connecting: Promise<Bus>): Promise<Bus> {
  const bus = await connecting;
  onTestFinished(() => bus.close());
  return bus;
}
