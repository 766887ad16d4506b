import { type JournalFact, journalEntry } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startPublication } from '../src/lane/publication/publication.js';
import {
  notePublished,
  unpublishedIn,
  unpublishedOf,
  unpublishedSince,
} from '../src/store/journal/published.js';
import { partitionOf } from '../src/store/leases/leases.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
let database: Database<RuntimeSchema>;
const running: AsyncDisposable[] = [];
let told: JournalFact[] = [];

const boot = async () => void running.push(await house.boot());
const stop = async () => {
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
};
const headOf = async (id: number) => {
  const { rows } = await database.pool.query(
    'select seq, published from runtime.journal_heads where deployment_id = $1',
    [id],
  );
  return rows[0] as { seq: number; published: number };
};
const setPublished = (id: number, published: number) =>
  database.pool.query('update runtime.journal_heads set published = $2 where deployment_id = $1', [
    id,
    published,
  ]);
const toldOf = (address: string) =>
  told.filter(({ deployment }) => deployment === address).map(({ seq }) => seq);

/** A database that can be away: whatever is asked of it then throws. */
function absentable(db: Database<RuntimeSchema>['db']) {
  let away = false;
  const get = (target: typeof db, name: keyof typeof db) => {
    if (away) throw new Error('away');
    const member: unknown = target[name];
    return typeof member === 'function' ? member.bind(target) : member;
  };
  const isAway = (now: boolean) => {
    away = now;
  };
  return { db: new Proxy(db, { get: get as never }), isAway };
}

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  const place = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
  await boot();
  database = house.resources.use('looking on', await connect<RuntimeSchema>(place));
  const listening = new AbortController();
  house.resources.add('facts', () => listening.abort());
  const handle = async (fact: JournalFact) => void told.push(fact);
  await house.bus.consume(journalEntry, { consumer: 'test', handle, signal: listening.signal });
});
beforeEach(async () => {
  told = [];
  if (running.length === 0) await boot();
});
afterEach(stop);

describe('the publication of journals', () => {
  it('begins with the creation, goes in order, and is noted when the process stops', async () => {
    const { deployment, execute } = await plantDeployment(house);
    for (const id of ['a', 'b', 'c']) await execute({ id });
    await vi.waitFor(() => expect(toldOf(deployment.address)).toEqual([1, 2, 3, 4]));
    await stop();
    expect(await headOf(deployment.id)).toEqual({ seq: 4, published: 4 });
  });

  it('is noted while the process runs, so that little comes again after its death', async () => {
    const { deployment, execute } = await plantDeployment(house);
    await execute({ id: 'a' });
    await vi.waitFor(async () => expect(await headOf(deployment.id)).toEqual({ seq: 2, published: 2 }));
  });

  it('goes on where the process before has left it, and clears what a release before has left', async () => {
    const { deployment, execute } = await plantDeployment(house);
    for (const id of ['a', 'b', 'c']) await execute({ id });
    await stop();
    await setPublished(deployment.id, 2);
    await database.pool.query(
      `insert into runtime.outbox (name, ordering_key, ordering_seq, message_id, shard) values ('n', 'k', 3, 'm', $1)`,
      [partitionOf(deployment.id)],
    );
    // The bus of one process would recognize what it has carried.
    await database.pool.query('update runtime.journal set id = gen_random_uuid() where deployment_id = $1', [
      deployment.id,
    ]);
    told = [];
    await boot();
    await vi.waitFor(() => expect(toldOf(deployment.address)).toEqual([3, 4]));
    await vi.waitFor(async () =>
      expect((await database.pool.query('select from runtime.outbox')).rows).toEqual([]),
    );
  });

  it('publishes what a creator has left when the owner goes on', async () => {
    const { deployment, execute } = await plantDeployment(house);
    await execute({ id: 'a' });
    await vi.waitFor(async () => expect((await headOf(deployment.id)).published).toBe(2));
    await setPublished(deployment.id, 0);
    await execute({ id: 'b' });
    await vi.waitFor(async () => expect((await headOf(deployment.id)).published).toBe(3));
  });
});

describe('the sweep for what creators have left', () => {
  it('goes back to the last one that succeeded', async () => {
    const { deployment } = await plantDeployment(house);
    await stop();
    const { db, isAway } = absentable(database.db);
    const [clock, logger] = [new FakeClock(), createLogger({ service: 'test', level: 'silent' })];
    const warn = vi.spyOn(logger, 'warn');
    const publishAll = vi.fn(async (_: unknown, all: readonly unknown[]) => all.map(() => undefined));
    const leases = () => [{ partition: partitionOf(deployment.id), epoch: 1 }];
    const bus = { publishAll, broadcast: async () => undefined } as never;
    const publication = startPublication({ db, bus, leases, clock, logger });
    // The first round has read the heads, and the loop sleeps.
    await vi.waitFor(() => expect(clock.sleeping).toBe(1));
    isAway(true);
    await setPublished(deployment.id, 0);
    await database.pool.query(
      'update runtime.journal_heads set active_minute = active_minute - 8 where deployment_id = $1',
      [deployment.id],
    );
    await clock.advance(10 * 60_000);
    expect(warn).toHaveBeenCalled();
    isAway(false);
    await vi.waitFor(async () => {
      await clock.advance(1000);
      expect(publishAll.mock.calls.flatMap(([, all]) => all)).toMatchObject([
        { orderingKey: deployment.address },
      ]);
    });
    await publication.stop();
  });
});

describe('what is noted of a journal', () => {
  const plant = async () => {
    const { deployment, execute } = await plantDeployment(house);
    for (const id of ['a', 'b', 'c']) await execute({ id });
    await stop();
    await setPublished(deployment.id, 2);
    return deployment;
  };
  const note = (deploymentId: number, first: number, last: number) =>
    notePublished(database.db, [{ deploymentId, first, last }]);

  it('follows what is noted already, has no gap, and ends within the journal', async () => {
    const { id } = await plant();
    const before = { deploymentId: id, published: 2, head: 4 };
    expect(await note(id, 4, 4)).toMatchObject([before]);
    expect(await note(id, 3, 5)).toMatchObject([before]);
    expect((await headOf(id)).published).toBe(2);
    expect(await note(id, 2, 3)).toMatchObject([before]);
    expect((await headOf(id)).published).toBe(3);
    expect(await note(id, 1, 2)).toMatchObject([{ published: 3 }]);
    expect((await headOf(id)).published).toBe(3);
    expect(await note(999_999, 1, 1)).toEqual([]);
  });

  it('waits for no commit', async () => {
    const { id } = await plant();
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      await client.query('update runtime.journal_heads set seq = seq where deployment_id = $1', [id]);
      expect(await note(id, 3, 4)).toEqual([]);
    } finally {
      await client.query('rollback');
      client.release();
    }
    expect(await note(id, 3, 4)).toHaveLength(1);
  });

  it('says which journals wait: of partitions, of the last minutes, of one deployment', async () => {
    const { id, address } = await plant();
    const { db, pool } = database;
    const journal = { deploymentId: id, address, published: 2, head: 4 };
    const own = [partitionOf(id)];
    const others = [partitionOf(id + 1)];
    expect(await unpublishedIn(db, own, id - 1, 10)).toContainEqual(expect.objectContaining(journal));
    expect(await unpublishedIn(db, own, id, 10)).toEqual([]);
    expect(await unpublishedIn(db, others, 0, 10)).toEqual([]);
    expect(await unpublishedOf(db, address)).toMatchObject(journal);
    const active = (minutes: number) =>
      pool.query(
        'update runtime.journal_heads set active_minute = active_minute - $2 where deployment_id = $1',
        [id, minutes],
      );
    expect(await unpublishedSince(db, own, 5, 10)).toEqual([]);
    await active(3);
    expect(await unpublishedSince(db, own, 5, 10)).toMatchObject([journal]);
    await active(9);
    expect(await unpublishedSince(db, own, 5, 10)).toEqual([]);
    await setPublished(id, 4);
    expect(await unpublishedOf(db, address)).toBeUndefined();
  });
});
