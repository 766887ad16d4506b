import { randomUUID } from 'node:crypto';
import { type JsonObject, runtimeContract } from '@orrery/contracts';
import { connect } from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { DeciderRequest } from '../src/core/prompting/model.js';
import { type Batch, newBatch } from '../src/store/commit/batch.js';
import type { CommitBatch } from '../src/store/commit/commit-statement.js';
import { createRecovery } from '../src/store/commit/recovery.js';
import type { RunWrite } from '../src/store/commit/writes.js';
import { createHeldPartitions, giveBack, partitionOf } from '../src/store/leases/leases.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const database = house.resources.use(
  'looking on',
  await connect<RuntimeSchema>({
    url: house.databaseUrl,
    schema: 'runtime',
    applicationName: 'test',
    logger,
  }),
);
const query = async <Row>(sql: string, values: unknown[] = []) =>
  (await database.pool.query(sql, values)).rows as Row[];

house.catalog.plantVersion({
  event: 'judge',
  versionId: 80,
  behaviorPrompt: 'Judge.',
  inputSchema: { id: 'string' },
  readEntities: [{ schema: 'counter', filter: ['id'] }],
  stateChanges: { counter: 'partial' },
});

const bound = ['increment', 'judge'].map((event) => ({ event, eventVersion: 1 }));

const isAccept = ({ runs, entries }: Batch) => entries.length === 0 && isStep(runs, (from) => from === null);
const isUpdate = ({ runs, entries }: Batch) => entries.length === 0 && isStep(runs, (from) => from !== null);
const isEnd = ({ runs, entries }: Batch) => entries.length > 0 && runs.size > 0;
const isStep = (runs: Batch['runs'], matches: (from: number | null) => boolean) =>
  [...runs.values()].some(({ from }) => matches(from));

/** What happens to the next commit that this takes. */
let fault:
  | { takes: (batch: Batch) => boolean; happens: (commit: () => Promise<unknown>) => Promise<void> }
  | undefined;
const aroundCommit =
  (commit: CommitBatch): CommitBatch =>
  async (batch) => {
    if (fault?.takes(batch) !== true) return commit(batch);
    const { happens } = fault;
    fault = undefined;
    await happens(() => commit(batch));
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  };

/** While it holds, the decider is called and gives no answer. */
let held: { calls: { request: DeciderRequest; signal: AbortSignal }[]; released: Promise<void> } | undefined;
function hold() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  held = { calls: [], released };
  return { calls: held.calls, release };
}

/** So long that no process renews during a test: a process learns of a moved lease when the test says so, or by a commit. */
const LEASE_S = 600;

const boot = () =>
  house.boot({
    aroundCommit,
    leaseTtlMs: LEASE_S * 1000,
    decider: async (request, signal) => {
      const { entities, input } = request;
      held?.calls.push({ request, signal });
      await held?.released;
      const id = String(input['id']);
      const count = (entities['counter'] as Record<string, JsonObject> | undefined)?.[id]?.['count'];
      return { mutation: { [`counter:${id}`]: { count: Number(count ?? 0) + 1 } } };
    },
  });
const runtimes = [await boot(), await boot()];
for (const { leases } of runtimes) await leases.runOnce();

/** The process that owns a deployment, and the other one. A partition that changes hands has no owner for a moment. */
const ownerOf = (deploymentId: number) =>
  vi.waitFor(async () => {
    const [row] = await query<{ owner: string }>('select owner from partitions where id = $1', [
      partitionOf(deploymentId),
    ]);
    const owner = runtimes.find(({ instance }) => instance === row?.owner);
    const other = runtimes.find(({ instance }) => instance !== row?.owner);
    if (owner === undefined || other === undefined) throw new Error('nobody owns the deployment');
    return { owner, other };
  });

type Running = (typeof runtimes)[number];

/** Gives a deployment's partition to a process, which may not be told. */
async function take({ instance, leases }: Running, deploymentId: number, { isTold = true } = {}) {
  await query(
    `update partitions set owner = $1, epoch = epoch + 1, expires_at = now() + interval '${LEASE_S} s' where id = $2`,
    [instance, partitionOf(deploymentId)],
  );
  if (isTold) await leases.runOnce();
}

const commits = { accept: isAccept, answer: isUpdate, end: isEnd };
const faults = [
  'its answer is lost',
  'it is written and the partition moves',
  'it is not written and the partition moves',
];
const modes = [
  { name: 'sync', headers: {} },
  { name: 'sync and keyed', headers: { 'idempotency-key': 'one' } },
  { name: 'async', headers: { prefer: 'respond-async' } },
  { name: 'async and keyed', headers: { prefer: 'respond-async', 'idempotency-key': 'two' } },
];
const cases = modes.flatMap(({ name, headers }) =>
  Object.entries(commits).flatMap(([which, takes]) =>
    faults.map((what) => ({ name, headers, which, takes, what })),
  ),
);

it.each(cases)('$name: the commit of $which counts once when $what', async ({ headers, takes, what }) => {
  const planted = await plantDeployment(house, { bindings: bound });
  const { id } = planted.deployment;
  const { owner, other } = await ownerOf(id);
  const move = () => take(other, id);
  fault = {
    takes,
    happens: async (commit) => {
      if (!what.includes('not written')) await commit();
      if (what.includes('moves')) await move();
    },
  };
  const { data } = await house.bus.call(
    runtimeContract.rpcs['deployments.execute'],
    { params: planted.params, query: {}, headers, body: { event: 'judge', input: { id: 'x' } } } as never,
    {
      caller: { kind: 'account', accountId: 1, scopes: ['read', 'write', 'execute'] },
      requestId: randomUUID(),
      deadline: Date.now() + 30_000,
      instance: owner.instance,
    },
  );
  const runs = () => query('select state from runs where deployment_id = $1', [id]);
  await vi.waitFor(async () => expect(await runs()).toEqual([{ state: 'succeeded' }]));
  expect(data).toMatchObject(
    'prefer' in headers ? { state: 'running' } : { stateChanges: { 'counter:x': { count: 1 } } },
  );
  expect(await planted.history()).toMatchObject([{ status: 'succeeded' }]);
  expect(await planted.counter('x')).toMatchObject({ state: { count: 1 } });
  expect(fault).toBeUndefined();
});

describe('the proof of a batch that has no entry', () => {
  const id = '01900000-0000-7000-8000-00000000000c';
  const recover = (run: Partial<RunWrite>) => {
    const held = createHeldPartitions({ onEpochOver: vi.fn(), onGone: vi.fn(), onTaken: vi.fn() });
    const write = { deploymentId: 1, from: 20, step: 25, columns: {}, ...run };
    const { db } = database;
    const batch = { ...newBatch(), runs: new Map([[id, write]]) };
    return createRecovery(db, 'nobody', held, systemClock, new AbortController().signal)(batch);
  };

  it('says that a new run was not written while its row is not there', async () => {
    expect(await recover({ from: null, step: 0 })).toBe('unwritten');
  });

  it.each([
    ['where it was', 20, 'unwritten'],
    ['at a lower step, of another owner', 23, 'unwritten'],
    ['at the very step', 25, 'written'],
    ['further, from wherever another owner found it', 31, 'unclear'],
  ])('finds the run %s', async (_where, step, proof) => {
    const { deployment } = await plantDeployment(house);
    await query('delete from runs where id = $1', [id]);
    await query(
      `insert into runs (id, deployment_id, state, request, request_hash, deadline, created_at, step, ended_at)
       values ($1, $2, 'succeeded', '{}', '', now(), now(), $3, now())`,
      [id, deployment.id, step],
    );
    expect(await recover({})).toBe(proof);
    expect(await recover({ from: null, step: 0 })).toBe('written');
  });
});

describe('the proof of a batch whose commit is in progress', () => {
  /** A commit that has locked its lease and written its entry, until `end`. */
  async function openCommit(owner: string, deploymentId: number) {
    const client = await database.pool.connect();
    let isOpen = true;
    const end = async () => {
      if (!isOpen) return;
      isOpen = false;
      await client.query('commit').finally(() => client.release());
    };
    onTestFinished(end);
    await client.query('begin');
    const { rows } = await client.query(
      'select epoch::int from partitions where id = $1 and owner = $2 for key share',
      [partitionOf(deploymentId), owner],
    );
    const written = await client.query(
      `insert into journal select (jsonb_populate_record(j,
         jsonb_build_object('deployment_id', -$1::integer, 'id', gen_random_uuid()))).* from journal j limit 1
       returning id`,
      [deploymentId],
    );
    return { epoch: Number(rows[0].epoch), entryId: String(written.rows[0].id), end };
  }

  it.each([
    ['is still held', false],
    ['was given back meanwhile', true],
  ])('waits for it when the partition %s', async (_where, isGivenBack) => {
    const { deployment } = await plantDeployment(house);
    const { owner } = await ownerOf(deployment.id);
    const partition = partitionOf(deployment.id);
    const { epoch, entryId, end } = await openCommit(owner.instance, deployment.id);
    if (isGivenBack) await giveBack(database.db, owner.instance, [partition]);
    const held = createHeldPartitions({ onEpochOver: vi.fn(), onGone: vi.fn(), onTaken: vi.fn() });
    held.hold([{ partition, epoch }]);
    const { signal } = new AbortController();
    const recover = createRecovery(database.db, owner.instance, held, systemClock, signal);
    const leases = new Map([[partition, { partition, epoch }]]);
    const entries = [{ entry: { id: entryId } }] as unknown as Batch['entries'];
    let answered = 0;
    const proof = recover({ ...newBatch(), leases, entries }).finally(() => {
      answered += 1;
    });
    const waiting = `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%epoch + 1%'`;
    await vi.waitFor(async () => expect(answered + (await query(waiting)).length).toBeGreaterThan(0));
    await end();
    expect(await proof).toBe('written');
    expect(held.epochOf(partition)).toBe(isGivenBack ? undefined : epoch + 1);
  });
});

/** Of three deployments that two processes own, two have the same owner. */
async function plantTwoOfOneOwner() {
  const planted = await Promise.all([1, 2, 3].map(() => plantDeployment(house, { bindings: bound })));
  const owners = await Promise.all(planted.map(({ deployment }) => ownerOf(deployment.id)));
  const [first, second] = runtimes.map((runtime) => planted.filter((_, at) => owners[at]?.owner === runtime));
  const [one, two] = (first?.length ?? 0) > 1 ? (first ?? []) : (second ?? []);
  if (one === undefined || two === undefined) throw new Error('no two of them have one owner');
  return [one, two] as const;
}

describe('a batch that finds one of its leases lost', () => {
  it('takes nothing from the deployments of the other leases', async () => {
    const planted = await plantTwoOfOneOwner();
    const [stolen, kept] = planted;
    const { other } = await ownerOf(stolen.deployment.id);
    const open = hold();
    const judged = planted.map(({ execute }) => execute({ id: 'j' }, {}, 'judge'));
    await vi.waitFor(() => expect(open.calls).toHaveLength(2));
    await take(other, stolen.deployment.id, { isTold: false });
    const counted = planted.map(({ execute }) => execute({ id: 'c' }));
    const abortedOf = ({ deployment }: typeof stolen) =>
      open.calls
        .filter(({ request }) => request.deployment.address === deployment.address)
        .map(({ signal }) => signal.aborted);
    await vi.waitFor(() => expect(abortedOf(stolen)).toEqual([true]));
    await other.leases.runOnce();
    expect(await Promise.all(counted)).toHaveLength(2);
    expect(abortedOf(kept)).toEqual([false]);
    open.release();
    await Promise.all(judged);
    expect(open.calls).toHaveLength(3);
  });
});
