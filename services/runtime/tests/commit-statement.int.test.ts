import { connect, type Database, migrate } from '@orrery/database';
import { type JournalEntryDraft, sealEntry } from '@orrery/deciding';
import { createLogger } from '@orrery/service-kit';
import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Batch, batchRows, newBatch, newTimerWrites } from '../src/store/commit/batch.js';
import {
  createCommit,
  INDEXED_STATEMENT,
  ONCE_INDEXED_STATEMENT,
  ONCE_STATEMENT,
  PLAIN_STATEMENT,
  TIMERS_STATEMENT,
  USUAL_INDEXED_STATEMENT,
  USUAL_STATEMENT,
  WHOLE_STATEMENT,
} from '../src/store/commit/commit-statement.js';
import type { PaymentEffect } from '../src/store/commit/effects.js';
import type { BindingWrite, TouchedInstance } from '../src/store/commit/writes.js';
import { acquire, raiseEpochs, readBalance, readOwners, renew } from '../src/store/leases/leases.js';
import { totalsOfPayments } from '../src/store/runs/payment-store.js';
import type { DeploymentState } from '../src/store/state/deployment-state.js';
import { createInstanceMemory, type MemoryInstance } from '../src/store/state/instance-memory.js';
import { migrations } from '../src/store/tables/migrations/index.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';

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

const AT = '2026-01-01T00:00:00.000Z';

/** All partitions live in this database. */
const HERE = Array.from({ length: 64 }, (_, partition) => ({ partition, generation: 1 }));

/** As if none of them had been renewed for their length. */
const allOver = async (instance: string) => ({
  limit: 64,
  over: (await readBalance(database.db, instance)).others,
  homes: HERE,
});

const plan = async (text: string) => {
  const { rows } = await database.pool.query<[string]>({
    text: `explain (generic_plan) ${text}`,
    rowMode: 'array',
  });
  return rows.map(([line]) => line).join('\n');
};

const SOME_ROWS = `
  insert into deployments (id, address, world_id, world_address, owner_account_id, name, mode, created_at, updated_at)
    overriding system value
    select n, n, 1, 'w', 1, 'x', 'upgradable', now(), now() from generate_series(1, 1000) n;
  insert into journal_heads select n, 1, 'hash', '{}' from generate_series(1, 1000) n;
  insert into instances select n, n, 'counter', 'one', '{}', 1, now(), now() from generate_series(1, 1000) n;
  insert into what_if_forks select n from generate_series(1, 1000) n;
  insert into bindings select n, n, 'e', 1, 1, '[]', null, now(), now() from generate_series(1, 1000) n;
  insert into runs (id, deployment_id, state, request, request_hash, deadline, created_at)
    select gen_random_uuid(), n, 'deciding', '{}', '', now(), now() from generate_series(1, 1000) n;
  insert into once_keys select 'message', n, '', 1, null, '{}', now(), null from generate_series(1, 1000) n;
  insert into payments (key, deployment_id, run_id, status, wallet, event, input_hash, network, asset, amount, decimals,
      pay_to, payer, offered, valid_until, created_at, updated_at)
    select 'evm:' || n, n, gen_random_uuid(), 'settled', 'w', 'e', '', 'base-sepolia', '0xa', n, 6, '0xb', '0xc', '{}',
      now(), now(), now() from generate_series(1, 1000) n;
  insert into timers (id, deployment_id, event, input, due_at, caller, set_seq, set_index, depth, tree, number)
    select gen_random_uuid(), n, 'e', '{}', now(), '{}', 1, 0, 1, 1, 2 from generate_series(1, 1000) n;
  insert into timer_heads select n, 1, now() from generate_series(1, 1000) n;
  insert into attribute_indexes (deployment_id, partition, entity_schema, schema_id, attribute, state)
    select n, 1, 'counter', 1, 'count', 'complete' from generate_series(1, 1000) n;
  insert into indexed_values select n, 'one', 0, n, '' from generate_series(1, 1000) n;
  analyze`;

describe('the plan of a commit', () => {
  const statements = [
    ...[PLAIN_STATEMENT, ONCE_STATEMENT, USUAL_STATEMENT, TIMERS_STATEMENT, WHOLE_STATEMENT],
    ...[INDEXED_STATEMENT, ONCE_INDEXED_STATEMENT, USUAL_INDEXED_STATEMENT],
  ];
  const plans = () => Promise.all(statements.map(({ text }) => plan(text)));

  it('looks rows up by their keys, also in tables that are small', async () => {
    const ofEmptyTables = await plans();
    await database.pool.query(SOME_ROWS);
    for (const lines of [...ofEmptyTables, ...(await plans())]) {
      expect(lines).toContain('Index Scan using journal_heads_pkey on journal_heads');
      expect(lines).toMatch(/Index Scan using instances_\w+ on instances.*\n *Index Cond: .*instance_id/);
      expect(lines).not.toMatch(/Seq Scan on (?!partitions)/);
    }
    const whole = await plan(WHOLE_STATEMENT.text);
    for (const key of [
      'runs_pkey',
      'deployments_pkey',
      'once_keys_pkey',
      'bindings_deployment_id_event_key',
      'payments_pkey',
      'what_if_forks_pkey',
      'indexed_values_pkey',
      'attribute_indexes_pkey',
    ])
      expect(whole).toMatch(new RegExp(`Scan using ${key} on`));
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
  decidedAt: '2026-11-21T09:30:00.000Z',
  evaluator: 1,
} as const;

/** No caller is so hard; the statement does not count on that. */
const entryOf = (seq: number, rest: object) =>
  sealEntry({ ...draft, id: crypto.randomUUID(), ...rest } as unknown as JournalEntryDraft, {
    v: 2,
    at: draft.decidedAt,
    seq,
    prevHash: 'before',
  });

describe('what a commit writes', () => {
  it.each(['Zürich/1', '~tilde', '', '\u{10ffff}last', HARD])(
    'is also what changes under a key that begins unlike others: %j',
    async (key) => {
      const commit = createCommit(database, 'me');
      await database.pool.query(`insert into once_keys values ($1, 'k', '', 1, null, null, now(), null)`, [
        key,
      ]);
      await database.pool.query(
        `insert into payments (key, deployment_id, run_id, status, wallet, event, input_hash, network, asset, amount,
           decimals, pay_to, payer, offered, valid_until, created_at, updated_at)
         values ($1, 1, gen_random_uuid(), 'staged', 'w', 'e', '', 'n', '0xa', 1, 6, '0xb', '0xc', '{}', now(), now(), now())`,
        [key],
      );
      const columns = { status: 'settling' as const, reason: key, updated_at: new Date(AT) };
      const batch = {
        ...newBatch(),
        onceKeys: new Map([['k', { kind: 'end' as const, scope: key, key: 'k', columns: { reply: key } }]]),
        payments: new Map([[key, { kind: 'update' as const, key, columns } as PaymentEffect]]),
      };
      expect(await commit(batch as never)).toEqual({ kind: 'committed' });
      const { rows } = await database.pool.query(
        'select k.reply, p.reason from once_keys k join payments p on p.key = k.scope where k.scope = $1',
        [key],
      );
      expect(rows).toEqual([{ reply: key, reason: key }]);
      const released = {
        onceKeys: new Map([['k', { kind: 'release' as const, scope: key, key: 'k' }]]),
        payments: new Map([[key, { kind: 'release' as const, key } as PaymentEffect]]),
      };
      await commit({ ...newBatch(), ...released } as never);
      const left = await database.pool.query(
        'select scope from once_keys where scope = $1 union all select key from payments where key = $1',
        [key],
      );
      expect(left.rows).toEqual([]);
    },
  );

  it('is what the entries say, with whatever is in them', async () => {
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
    expect(await commit({ ...newBatch(), entries })).toEqual({ kind: 'committed' });
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
      head: { seq, hash: 'h', executedAt: AT, totals: { [HARD]: seq } },
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
      headsBefore: new Map([[5005, { seq: seq - 1, hash: 'h', executedAt: AT, totals: {} }]]),
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
    await database.pool.query(`insert into journal_heads values (5005, 0, 'h', '{}')`);
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

describe('a commit that finds the database otherwise', () => {
  const head = { seq: 4, hash: 'h4', executedAt: AT, totals: {} };
  const stateOf = (id: number) =>
    ({
      id,
      head: { ...head, seq: 5, hash: 'h5' },
      instances: createInstanceMemory(),
    }) as unknown as DeploymentState;
  const runId = '01900000-0000-7000-8000-00000000000a';
  const freshRun = '01900000-0000-7000-8000-00000000000b';
  const once = (key: string) => ({
    scope: 'message',
    key,
    kind: 'claim' as const,
    columns: {
      request_hash: 'hash',
      deployment_id: 6005,
      run_id: null,
      reply: { reply: HARD },
      seq: null,
      created_at: new Date(),
      expires_at: null,
    },
  });
  const columns = {
    deployment_id: 6005,
    state: 'deciding' as const,
    request: {},
    request_hash: '',
    deadline: new Date(),
    created_at: new Date(),
  };

  /** Two deployments get an entry; one run is new, another goes from step 3 to 4; a once-key is claimed. */
  function batchOf(parts: Partial<Batch> = {}): Batch {
    const entries = [6005, 6006].map((deploymentId) => ({
      deploymentId,
      entry: entryOf(5, { input: {}, result: null, error: null, event: 'e', caller: 'c', paymentKey: null }),
      effects: { entry: draft } as never,
    }));
    return {
      ...newBatch(),
      leases: new Map(
        [5, 6].map((offset) => [(6000 + offset) % 64, { partition: (6000 + offset) % 64, epoch: 0 }]),
      ),
      deployments: new Map([6005, 6006].map((id) => [id, stateOf(id)])),
      headsBefore: new Map([6005, 6006].map((id) => [id, head])),
      entries,
      runs: new Map([
        [freshRun, { deploymentId: 6005, from: null, step: 0, columns }],
        [runId, { deploymentId: 6006, from: 3, step: 4, columns: { state: 'decided', proposal: { a: 1 } } }],
      ]),
      onceKeys: new Map([['message new', once('new')]]),
      ...parts,
    };
  }
  const partitionIds = [6005 % 64, 6006 % 64];
  const left = async () => {
    const { rows } = await database.pool.query(
      `select (select count(*)::int from journal where deployment_id in (6005, 6006)) as entries,
        (select jsonb_object_agg(seq, hash) from journal_heads where deployment_id in (6005, 6006)) as heads,
        (select jsonb_agg(jsonb_build_array(state, step, proposal, attempts) order by id) from runs
          where id in ('${runId}', '${freshRun}')) as runs,
        (select jsonb_agg(key order by key) from once_keys where deployment_id = 6005) as keys`,
    );
    return rows[0];
  };
  const untouched = { entries: 0, heads: { 4: 'h4' }, runs: [['deciding', 3, null, 1]], keys: ['taken'] };

  beforeAll(async () => {
    const { pool } = database;
    await pool.query("update partitions set owner = 'me', epoch = 0 where id = any($1)", [partitionIds]);
    await pool.query(`
      insert into deployments (id, address, world_id, world_address, owner_account_id, name, mode, created_at, updated_at)
        overriding system value
        select n, n, 1, 'w', 1, 'x', 'upgradable', now(), now() from generate_series(6005, 6006) n;
      insert into journal_heads values (6005, 4, 'h4', '{}'), (6006, 4, 'h4', '{}');
      insert into runs (id, deployment_id, state, request, request_hash, deadline, created_at, step)
        values ('${runId}', 6006, 'deciding', '{}', '', now(), now(), 3);
      insert into once_keys values ('message', 'taken', '', 6005, null, '{}', now(), null)`);
  });

  afterAll(() =>
    database.pool.query('update partitions set owner = null where id = any($1)', [partitionIds]),
  );

  it.each<[string, Partial<Batch>, object]>([
    [
      'a lease that is lost',
      { leases: new Map(partitionIds.map((id, index) => [id, { partition: id, epoch: index }])) },
      { lost: [{ partition: 6006 % 64, epoch: 1 }] },
    ],
    [
      'a head that is not where it was',
      {
        headsBefore: new Map([
          [6005, head],
          [6006, { ...head, hash: 'other' }],
        ]),
      },
      { heads: [{ deploymentId: 6006, seq: 4, hash: 'h4' }] },
    ],
    [
      'a run that is at another step',
      { runs: new Map([[runId, { deploymentId: 6006, from: 2, step: 3, columns: {} }]]) },
      { runs: [runId] },
    ],
    [
      'a run that is gone',
      { runs: new Map([[freshRun, { deploymentId: 6006, from: 2, step: 3, columns: {} }]]) },
      { runs: [freshRun] },
    ],
    [
      'a once-key that is taken',
      {
        onceKeys: new Map([
          ['1', once('free')],
          ['2', once('taken')],
        ]),
      },
      { keys: [{ scope: 'message', key: 'taken' }] },
    ],
    [
      'a timer that is gone',
      {
        timers: new Map([
          [
            6006,
            {
              ...newTimerWrites(6006 % 64),
              moved: new Map([[freshRun, { was: null, now: null, gone: true }]]),
            },
          ],
        ]),
      },
      { timers: [freshRun] },
    ],
  ])('writes nothing and names %s', async (_what, parts, named) => {
    const refused = { kind: 'refused', lost: [], heads: [], runs: [], keys: [], timers: [] };
    expect(await createCommit(database, 'me')(batchOf(parts))).toEqual({ ...refused, ...named });
    expect(await left()).toEqual(untouched);
  });

  it('writes all of it once everything is as expected', async () => {
    const minute =
      'select count(*)::int as n from journal_heads where deployment_id in (6005, 6006) and active_minute > 0';
    expect(await createCommit(database, 'me')(batchOf())).toEqual({ kind: 'committed' });
    expect(await left()).toEqual({
      entries: 2,
      heads: { 5: 'h5' },
      runs: [
        ['decided', 4, { a: 1 }, 1],
        ['deciding', 0, null, 1],
      ],
      keys: ['new', 'taken'],
    });
    expect((await database.pool.query(minute)).rows).toEqual([{ n: 2 }]);
  });

  it('ends and releases once-keys, and changes settings and bindings by columns', async () => {
    const binding = (id: number, event: string) => ({
      id,
      event,
      versionId: id,
      eventVersion: 1,
      targetChains: [],
      claimRevision: id,
      onchain: null,
      createdAt: new Date(0),
      updatedAt: new Date(0),
    });
    const commit = createCommit(database, 'me');
    const write = (parts: Partial<Batch>) => commit({ ...newBatch(), leases: batchOf().leases, ...parts });
    const put = (id: number, event: string): BindingWrite => ({
      deployment_id: 6005,
      event,
      binding: binding(id, event),
    });
    await write({
      bindings: new Map([
        ['a', put(9001, 'a')],
        ['b', put(9002, 'b')],
      ]),
    });
    const end = { reply: { reply: 2 }, expires_at: new Date(1000) };
    await write({
      onceKeys: new Map([
        ['1', { scope: 'message', key: 'new', kind: 'end', columns: end }],
        ['2', { scope: 'message', key: 'taken', kind: 'release' }],
      ]),
      settings: new Map([[6005, { description: 'd', owner_paused: true, locked_definition: { w: [1] } }]]),
      bindings: new Map<string, BindingWrite>([
        ['a', { deployment_id: 6005, event: 'a', binding: null }],
        ['b', put(9003, 'b')],
      ]),
    });
    await write({ settings: new Map([[6005, { description: null, name: 'y' }]]) });
    const { rows } = await database.pool.query(
      `select d.name, d.description, d.owner_paused, d.locked_definition, d.owner_account_id,
        (select jsonb_agg(jsonb_build_array(b.event, b.id, b.claim_revision)) from bindings b where b.deployment_id = d.id) as bindings,
        (select jsonb_agg(jsonb_build_array(k.key, k.reply, extract(epoch from k.expires_at), k.request_hash))
          from once_keys k where k.deployment_id = d.id) as keys
       from deployments d where d.id = 6005`,
    );
    expect(rows).toEqual([
      {
        name: 'y',
        description: null,
        owner_paused: true,
        locked_definition: { w: [1] },
        owner_account_id: 1,
        bindings: [['b', 9003, 9003]],
        keys: [['new', { reply: 2 }, 1, 'hash']],
      },
    ]);
  });

  it('reserves payments, changes their columns, releases reservations, and counts them', async () => {
    const commit = createCommit(database, 'me');
    const write = (...payments: PaymentEffect[]) =>
      commit({
        ...newBatch(),
        leases: batchOf().leases,
        payments: new Map(payments.map((payment) => [payment.key, payment])),
      });
    const at = new Date(1000);
    const reserve = (key: string, amount: string): PaymentEffect => ({
      kind: 'reserve',
      key,
      columns: {
        key,
        deployment_id: 6005,
        run_id: runId,
        status: 'reserved',
        wallet: 'w',
        event: 'e',
        input_hash: '',
        network: 'base-sepolia',
        asset: '0xa',
        amount,
        decimals: 6,
        pay_to: '0xb',
        payer: '0xc',
        offered: { any: 'thing' },
        valid_until: at,
        created_at: at,
        updated_at: at,
      },
    });
    const huge = '9'.repeat(70);
    await write(reserve('test:1', huge), reserve('test:2', '5'), reserve('test:3', '7'));
    const columns = { status: 'settled' as const, transaction: '0xt', seq: 4, updated_at: new Date(2000) };
    await write({ kind: 'update', key: 'test:1', columns }, { kind: 'release', key: 'test:2' });
    const rows =
      'select key, status, transaction, seq, offered from payments where deployment_id = 6005 order by key';
    expect((await database.pool.query(rows)).rows).toEqual([
      { key: 'test:1', status: 'settled', transaction: '0xt', seq: 4, offered: { any: 'thing' } },
      { key: 'test:3', status: 'reserved', transaction: null, seq: null, offered: { any: 'thing' } },
    ]);
    expect(await totalsOfPayments(database.db, 6005)).toEqual(
      [
        { status: 'reserved', payments: 1, amount: '7' },
        { status: 'settled', payments: 1, amount: huge },
      ].map((total) => ({ network: 'base-sepolia', asset: '0xa', decimals: 6, ...total })),
    );
  });

  it('writes 500 runs in one round trip', async () => {
    const query = vi.spyOn(database.pool, 'query');
    const runs = Array.from(
      { length: 500 },
      () => [crypto.randomUUID(), { deploymentId: 6005, from: null, step: 0, columns }] as const,
    );
    await createCommit(database, 'me')({ ...newBatch(), leases: batchOf().leases, runs: new Map(runs) });
    expect(query).toHaveBeenCalledOnce();
    query.mockRestore();
    const count = 'select count(*)::int as n from runs where id = any($1)';
    expect((await database.pool.query(count, [runs.map(([id]) => id)])).rows).toEqual([{ n: 500 }]);
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
    const parts = batchRows({ ...newBatch(), leases: leasesOf(0) }, me);
    const { text, parameters } = WHOLE_STATEMENT;
    const { rows } = await client.query({ text, values: parameters.map((name) => parts[name]) });
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
    expect(await acquire(database.db, 'other', 1000, await allOver('other'))).not.toContainEqual({
      partition: 3,
      epoch: 1,
    });
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
  const take = async (instance: string, ttlMs: number) =>
    (await acquire(database.db, instance, ttlMs, { limit: 64, over: [], homes: HERE })).find(
      ({ partition }) => partition === 7,
    );
  beforeEach(() =>
    database.pool.query('update runtime.partitions set owner = null, expires_at = null where id = 7'),
  );

  it('that is over is no longer seen, and goes to another process under a new epoch', async () => {
    const { db } = database;
    const { epoch = 0 } = (await take('gone', -1000)) ?? {};
    expect((await readOwners(db)).has(7)).toBe(false);
    const heirs = await acquire(db, 'heir', 60_000, await allOver('heir'));
    expect(heirs).toContainEqual({ partition: 7, epoch: epoch + 1 });
    expect((await readOwners(db)).get(7)).toBe('heir');
  });

  it('that was renewed since it was read stays, however old it seems', async () => {
    const { db } = database;
    const lease = await take('alive', -1000);
    const all = await allOver('heir');
    expect(await renew(db, 'alive', -2000)).toContainEqual(lease);
    expect(await acquire(db, 'heir', 60_000, all)).not.toContainEqual(
      expect.objectContaining({ partition: 7 }),
    );
  });
});
