import { connect, type Database, migrate } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { batchRows } from '../src/commit/batch-rows.js';
import { createCommit } from '../src/commit/commit-batch.js';
import { COMMIT_STATEMENT } from '../src/commit/commit-statement.js';
import type { RuntimeSchema } from '../src/database/db.js';
import { migrations } from '../src/database/migrations/index.js';
import { type JournalEntryDraft, sealEntry } from '../src/journal/entry.js';
import { acquire, raiseEpochs, readOwners, renew } from '../src/ownership/lease-store.js';
import { type Batch, newBatch, type TouchedInstance } from '../src/state/batch.js';
import type { DeploymentState } from '../src/state/deployment-state.js';
import { createInstanceMemory, type MemoryInstance } from '../src/state/instance-memory.js';

let place: TestDatabase;
let database: Database<RuntimeSchema>;

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  place = await createTestDatabase();
  database = await connect({ url: place.url, schema: 'runtime', applicationName: 'test', logger });
  await migrate({ database, migrations, logger });
});
afterAll(async () => {
  await database.close();
  await place.drop();
});

const plan = async () => {
  const { rows } = await database.pool.query<[string]>({
    text: `explain (generic_plan) ${COMMIT_STATEMENT.text}`,
    rowMode: 'array',
  });
  return rows.map(([line]) => line).join('\n');
};

const SOME_ROWS = `
  insert into journal_heads select n, 1, 'hash', '{}' from generate_series(1, 1000) n;
  insert into instances select n, n, 'counter', 'one', '{}', 1, now(), now() from generate_series(1, 1000) n;
  analyze`;

describe('the plan of a commit', () => {
  it('looks rows up by their keys, also in tables that are small', async () => {
    const ofEmptyTables = await plan();
    await database.pool.query(SOME_ROWS);
    for (const lines of [ofEmptyTables, await plan()]) {
      expect(lines).toContain('Index Scan using journal_heads_pkey on journal_heads');
      expect(lines).toMatch(/Index Scan using instances_\w+ on instances.*\n *Index Cond: .*instance_id/);
      expect(lines).not.toMatch(/Seq Scan on (journal_heads|instances)/);
    }
  });
});

/** What means something in a row, in an array, in JSON or between lines. */
const HARD = 'a"b\\c{d}(e),f\ng\u2028 null ""';

const draft = {
  deployment: '0xabc',
  kind: 'execution',
  eventVersion: 1,
  versionHash: null,
  trigger: 'admin',
  status: 'succeeded',
  changes: [],
  llmHash: null,
  attestation: null,
  executedAt: '2026-11-21T09:30:00.000Z',
} as const;

/** No caller is so hard; the statement does not count on that. */
const entryOf = (seq: number, rest: object) =>
  sealEntry({ ...draft, id: crypto.randomUUID(), ...rest } as unknown as JournalEntryDraft, {
    seq,
    prevHash: 'before',
  });

describe('what a commit writes', () => {
  it('is what the entries say, with whatever is in them, told in their order', async () => {
    const commit = createCommit(database, 'me');
    const hard = { [HARD]: HARD };
    const first = entryOf(9, {
      event: HARD,
      caller: HARD,
      input: hard,
      result: hard,
      error: hard,
      paymentKey: '',
    });
    const second = entryOf(8, {
      event: null,
      caller: 'null',
      input: null,
      result: null,
      error: null,
      paymentKey: null,
    });
    const entries = [
      { deploymentId: 7, entry: first, effects: { entry: draft, llm: hard, durationMs: 0.25 } as never },
      { deploymentId: 7, entry: second, effects: { entry: draft } as never },
    ];
    expect(await commit({ ...newBatch(), entries })).toBe('committed');
    const { rows } = await database.pool.query(
      `select id, event, caller, input, result, error, llm, payment_key as "paymentKey", duration_ms as ms
       from journal where deployment_id = 7 order by seq desc`,
    );
    const nothing = {
      event: null,
      input: null,
      result: null,
      error: null,
      llm: null,
      paymentKey: null,
      ms: null,
    };
    expect(rows).toEqual([
      {
        id: first.id,
        event: HARD,
        caller: HARD,
        input: hard,
        result: hard,
        error: hard,
        llm: hard,
        paymentKey: '',
        ms: 0.25,
      },
      { ...nothing, id: second.id, caller: 'null' },
    ]);
    const told = await database.pool.query(
      'select ordering_key, ordering_seq, message_id from outbox order by id',
    );
    expect(told.rows).toEqual(
      [first, second].map(({ id, seq }) => ({ ordering_key: '0xabc', ordering_seq: seq, message_id: id })),
    );
  });
});

describe('what a commit leaves', () => {
  const created = new Date('2026-11-21T09:30:00.000Z');
  const later = new Date('2026-11-21T09:30:01.250Z');
  const hard = { [HARD]: [HARD, null, 0.5] };

  /** The instance of the hard name after one more change, as the batch that makes it holds it. */
  function batchOf(seq: number, now: Omit<MemoryInstance, 'createdAt'>, change: Partial<TouchedInstance>) {
    const instances = createInstanceMemory();
    instances.learn(HARD, HARD, { ...now, createdAt: created });
    const state = {
      id: 5005,
      instances,
      head: { seq, hash: 'h', totals: { [HARD]: seq } },
    } as unknown as DeploymentState;
    const touched = { state, entitySchema: HARD, instanceId: HARD, existedBefore: true, recreated: false };
    const entry = entryOf(seq, {
      input: {},
      result: null,
      error: null,
      event: 'e',
      caller: 'c',
      paymentKey: null,
    });
    const changes = [{ entitySchema: HARD, instanceId: HARD }];
    return {
      ...newBatch(),
      deployments: new Map([[5005, state]]),
      entries: [{ deploymentId: 5005, entry: { ...entry, changes }, effects: { entry: draft } }],
      touched: new Map([['one', { ...touched, ...change }]]),
    } as unknown as Batch;
  }
  const left = async () => {
    const { rows } = await database.pool.query(
      `select i.id, i.state, i.revision, i.created_at, i.updated_at, h.seq, h.totals,
         (select array_agg(c.seq::int order by c.seq) from instance_changes c where (c.entity_schema, c.instance_id) = ($1, $1)) seqs
       from instances i join journal_heads h using (deployment_id)
       where i.deployment_id = 5005 and i.entity_schema = $1 and i.instance_id = $1`,
      [HARD],
    );
    return rows[0];
  };

  it('is the instances, heads and changes of the batch, whatever their names and states', async () => {
    const commit = createCommit(database, 'me');
    await database.pool.query(`insert into journal_heads values (5005, 0, '', '{}')`);
    const first = { id: 7070, state: hard, revision: 1, updatedAt: created };
    await commit(batchOf(1, first, { existedBefore: false }));
    const shown = { id: 7070, created_at: created, updated_at: created, state: hard, revision: 1 };
    expect(await left()).toEqual({ ...shown, seq: 1, totals: { [HARD]: 1 }, seqs: [1] });
    await commit(batchOf(2, { ...first, state: { a: HARD }, revision: 2, updatedAt: later }, {}));
    const updated = { ...shown, state: { a: HARD }, revision: 2, updated_at: later };
    expect(await left()).toEqual({ ...updated, seq: 2, totals: { [HARD]: 2 }, seqs: [1, 2] });
    await commit(batchOf(3, { ...first, id: 7171, updatedAt: later }, { recreated: true }));
    expect(await left()).toMatchObject({ id: 7171, created_at: created, seq: 3, seqs: [1, 2, 3] });
  });
});

describe('the leases of a commit', () => {
  const me = 'me';
  const leasesOf = (epoch: number) => new Map([[3, { partition: 3, epoch }]]);
  const takeThree = () =>
    database.pool.query("update partitions set owner = 'me', expires_at = now() where id in (2, 3)");

  /** A commit that has done its work and is not made yet. */
  async function openCommit() {
    const client = await database.pool.connect();
    await client.query('begin');
    const values = batchRows({ ...newBatch(), leases: leasesOf(0) }, me);
    const { rows } = await client.query({ text: COMMIT_STATEMENT.text, values });
    let isOpen = true;
    const leave = (broken = false) => {
      if (isOpen) client.release(broken);
      isOpen = false;
    };
    // A test that failed must not keep its locks: what waits for them would never end.
    onTestFinished(() => leave(true));
    const end = () => client.query('commit').finally(() => leave());
    return { ok: rows[0]?.ok, end };
  }

  it('are renewed while it is on its way, and neither waits for the other', async () => {
    await takeThree();
    const first = await openCommit();
    expect(await renew(database.db, me, 1000)).toHaveLength(2);
    const second = await openCommit();
    await Promise.all([first.end(), second.end()]);
    expect([first.ok, second.ok]).toEqual([true, true]);
  });

  it('are passed on only after it, and not kept by one that comes too late', async () => {
    await takeThree();
    const underWay = await openCommit();
    expect(await acquire(database.db, 'other', 1000, 64)).not.toContainEqual({ partition: 3, epoch: 1 });
    let isRaised = false;
    const raised = raiseEpochs(database.db, me, [...leasesOf(0).values()]).finally(() => {
      isRaised = true;
    });
    const locks =
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await vi.waitFor(async () => expect((await database.pool.query(locks)).rowCount).toBe(1));
    expect(isRaised).toBe(false);
    await underWay.end();
    expect(await raised).toEqual([{ partition: 3, epoch: 1 }]);
    const late = await openCommit();
    await late.end();
    expect(late.ok).toBe(false);
  });
});

describe('a lease', () => {
  it('that has expired is no longer seen, and goes to another process under a new epoch', async () => {
    const { db, pool } = database;
    await pool.query('update runtime.partitions set owner = null, expires_at = null where id = 7');
    const expired = (await acquire(db, 'gone', -1000, 64)).find(({ partition }) => partition === 7);
    const epoch = expired?.epoch ?? 0;
    expect((await readOwners(db)).has(7)).toBe(false);
    expect(await acquire(db, 'heir', 60_000, 64)).toContainEqual({ partition: 7, epoch: epoch + 1 });
    expect((await readOwners(db)).get(7)).toBe('heir');
  });
});
