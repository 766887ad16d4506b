import type { HashedEntry, JsonObject } from '@orrery/contracts';
import { hashOf } from '@orrery/deciding';
import { withClient } from '@orrery/testing/servers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { attribute } from './fake-catalog.js';
import { sendsTo, WALLET } from './paying.js';
import { OTHER, plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const runtime = await house.boot({ soleProcess: true });
const direct = (template: JsonObject) => ({ mode: 'direct' as const, template });
house.catalog.plantVersion({
  event: 'survey',
  versionId: 60,
  readEntities: [{ schema: 'counter' }],
  mutationSettings: direct({
    stateChanges: { 'counter:{{input.id}}': { count: { $increment: '{{ size(entities.counter) }}' } } },
    result: { ids: '{{ entities.counter.map(id, id) }}', unix: '{{ unix }}' },
  }),
});
house.catalog.plantVersion({
  event: 'leaders',
  versionId: 61,
  readEntities: [{ schema: 'counter', where: 'instance.count > 0', orderBy: 'count desc', limit: 2 }],
  mutationSettings: direct({ result: { leaders: '{{ entities.counter.map(id, id) }}' } }),
});
house.catalog.plantVersion({
  event: 'fails',
  versionId: 62,
  mutationSettings: direct({ result: { r: '{{ input.none + 1 }}' } }),
});
house.catalog.plantVersion({
  event: 'follows',
  versionId: 63,
  mutationSettings: direct({ result: { by: '{{ walletAddress }}' } }),
  followUps: [
    {
      event: 'increment',
      input: { id: '{{ input.id }}' },
      after: 'PT{{ input.hours }}H',
      key: '{{ input.id }}',
      when: '{{ input.hours > 0 }}',
    },
    { cancel: 'other' },
    { event: 'signed', when: '{{ input.hours == 0 }}' },
  ],
  executionSettings: { visibility: 'public' },
});
house.catalog.plantVersion({
  event: 'signed',
  versionId: 64,
  mutationSettings: direct({ result: { by: '{{ walletAddress }}' } }),
});
house.catalog.plantVersion({
  event: 'loops',
  versionId: 68,
  mutationSettings: direct({ result: { keys: '{{ input.map(k, k) }}', text: 'of {{ input }}' } }),
});
house.catalog.plantVersion({
  event: 'names',
  versionId: 69,
  mutationSettings: direct({ result: { of: '{{ deployment }}' } }),
});
house.catalog.plantVersion({
  event: 'recalls',
  versionId: 75,
  readHistory: { last: 2 },
  mutationSettings: direct({ result: { seen: '{{ history.map(e, e.seq) }}' } }),
});
house.catalog.plantSchema('place', [attribute('size', 'integer', { defaultValue: 1 })]);
for (const [event, ...schemas] of [
  ['places', 'place'],
  ['both', 'counter', 'place'],
] as const)
  house.catalog.plantVersion({
    event,
    versionId: 65 + schemas.length,
    readEntities: schemas.map((schema) => ({ schema })),
    mutationSettings: direct({
      result: { sizes: schemas.map((schema) => `{{ size(entities.${schema}) }}`) },
    }),
  });
const BINDINGS = [
  'increment',
  'survey',
  'leaders',
  'fails',
  'follows',
  'signed',
  'places',
  'both',
  'loops',
  'names',
  'recalls',
].map((event) => ({
  event,
  eventVersion: 1,
}));

type Planted = Awaited<ReturnType<typeof plantDeployment>>;

async function verifyDecisions({ params }: Planted) {
  const { data } = await house.call('history.verify', { params, query: { decisions: 'true' } });
  return data as { valid: boolean; firstDivergence: object | null; decisions: object };
}

/** A history of executions of each kind, instances that come and go, and failures. */
async function live() {
  const planted = await plantDeployment(house, { bindings: BINDINGS });
  const { execute, createCounter, params } = planted;
  for (const id of ['b', 'c', 'a']) await createCounter(id);
  for (let lap = 0; lap < 12; lap++) {
    await execute({ id: ['a', 'b', 'd'][lap % 3] });
    const counter = { params: { ...params, instanceId: 'b' }, query: { entitySchema: 'counter' } };
    if (lap === 5) await house.call('instances.delete', counter);
    await execute({ id: ['c', 'e'][lap % 2] }, {}, 'survey');
    await execute({}, {}, 'leaders');
    await execute({}, {}, 'fails').catch(() => undefined);
  }
  return planted;
}

it('decides each execution of a history again, and finds them as they are', async () => {
  const planted = await live();
  expect(await verifyDecisions(planted)).toMatchObject({
    valid: true,
    firstDivergence: null,
    decisions: { rerun: 48, notRerun: {} },
  });
  // From anywhere in it.
  const { data } = await house.call('history.verify', {
    params: planted.params,
    query: { from: 30, decisions: 'true' },
  });
  expect(data).toMatchObject({ valid: true, next: null });
});

it('decides again what reads several schemas whole, one of which the entry before has read', async () => {
  const planted = await plantDeployment(house, { bindings: BINDINGS });
  const { execute, createCounter, params } = planted;
  await createCounter('a');
  await house.call('instances.create', {
    params,
    body: { entitySchema: 'place', instanceId: 'x', state: {} },
  });
  await execute({}, {}, 'places');
  await execute({}, {}, 'both');
  expect(await verifyDecisions(planted)).toMatchObject({
    valid: true,
    decisions: { rerun: 2, notRerun: {} },
  });
});

it('decides the same on what was sent and on what is stored, which has its members in another order', async () => {
  const planted = await plantDeployment(house, { bindings: BINDINGS });
  await planted.execute({ zz: 1, b: 2, aaa: 3, a: 4 }, {}, 'loops');
  const [{ result }] = (await planted.history()) as unknown as [{ result: JsonObject }];
  expect(result['keys']).toEqual(['a', 'aaa', 'b', 'zz']);
  expect(await verifyDecisions(planted)).toMatchObject({
    valid: true,
    decisions: { rerun: 1, notRerun: {} },
  });
});

it('finds an execution that its definition does not give, in a chain that holds', async () => {
  const planted = await live();
  const { seq } = await rewriteLast(planted.deployment.address, 'leaders', {
    result: { leaders: ['c', 'b'] },
  });
  expect(await planted.verify()).toMatchObject({ valid: true });
  expect(await verifyDecisions(planted)).toMatchObject({
    valid: false,
    firstDivergence: { seq, what: 'decision_differs' },
  });
});

it('decides again what executions set as timers, also those of a wallet', async () => {
  const planted = await plantDeployment(house, { bindings: BINDINGS });
  const { deployment, params, execute, history } = planted;
  await house.call('deployments.publish', { params });
  const send = sendsTo(house, deployment.address);
  await send({ event: 'follows', input: { id: 'a', hours: 0 } });
  await vi.waitFor(async () => expect((await history())[0]).toMatchObject({ event: 'signed' }));
  const [bySigned] = await history();
  expect(bySigned).toMatchObject({ trigger: 'timer', caller: `wallet:${WALLET}`, result: { by: null } });
  await execute({ id: 'b', hours: 2 }, {}, 'follows');
  expect(await verifyDecisions(planted)).toMatchObject({
    valid: true,
    decisions: { rerun: 3, notRerun: {} },
  });
  const [{ timers: [timer] = [] } = {}] = await history();
  const recorded = { timers: [{ ...timer, dueAt: '2040-01-01T00:00:00.000Z' }, CANCELS] };
  const { seq } = await rewriteLast(deployment.address, 'follows', { recorded } as never);
  expect(await planted.verify()).toMatchObject({ valid: true });
  expect(await verifyDecisions(planted)).toMatchObject({
    valid: false,
    firstDivergence: { seq, what: 'decision_differs' },
  });
});

const CANCELS = { id: null, event: null, dueAt: null, key: 'other', inputHash: null };

describe('of a what-if fork', () => {
  const { directory, homes } = runtime.context;
  afterEach(() => vi.restoreAllMocks());

  /** A fork in which an execution that names its deployment and one that remembers are replayed. */
  async function replayed() {
    const source = await plantDeployment(house, { bindings: BINDINGS });
    await source.createCounter('a');
    await source.execute({ id: 'a' });
    for (const event of ['names', 'recalls']) await source.execute({}, {}, event);
    const { address: sourceDeployment } = source.deployment;
    const body = { purpose: 'what_if', sourceDeployment, sourceSeq: 3, bindings: [] };
    const fork = await plantDeployment(house, body);
    for (const seq of [4, 5]) {
      const { data } = await house.call('deployments.replay', { params: fork.params, body: { seq } });
      expect(data).toMatchObject({ outcome: 'executed', entry: { status: 'succeeded' } });
    }
    return { source, fork };
  }

  it('decides all again beside its source', async () => {
    const { fork } = await replayed();
    expect(await verifyDecisions(fork)).toMatchObject({ valid: true, decisions: { rerun: 2, notRerun: {} } });
  });

  it.each([
    ['has never been in this database', () => vi.spyOn(directory, 'byAddress').mockResolvedValue(undefined)],
    ['has left this database', () => vi.spyOn(homes, 'isHere').mockResolvedValue(false)],
  ])('leaves out what it remembers where its source %s', async (_, leave) => {
    const { source, fork } = await replayed();
    leave();
    // What the journal had of it does not count: it may be gone, or not be all.
    await withClient(house.databaseUrl, (client) =>
      client.query(`delete from runtime.journal where deployment_id = $1 and kind = 'execution'`, [
        source.deployment.id,
      ]),
    );
    expect(await verifyDecisions(fork)).toMatchObject({
      valid: true,
      decisions: { rerun: 1, notRerun: { outside: 1 } },
    });
  });
});

it('decides for others only what they may read the definitions of', async () => {
  const planted = await live();
  const { params } = planted;
  await house.call('deployments.publish', { params });
  const askedByOther = async () => {
    const query = { decisions: 'true' };
    return (await house.call('history.verify', { params, query }, { accountId: OTHER })).data;
  };
  expect(await askedByOther()).toMatchObject({
    valid: true,
    decisions: { rerun: 0, notRerun: { no_definition: 48 } },
  });
  await house.call('deployments.update', { params, body: { isCodePublic: true } });
  expect(await askedByOther()).toMatchObject({ decisions: { rerun: 48, notRerun: {} } });
});

it('says of which executions it knows nothing', async () => {
  const planted = await live();
  await withClient(house.databaseUrl, (client) =>
    client.query(`delete from runtime.definitions where definition ->> 'event' = 'survey'`),
  );
  expect(await verifyDecisions(planted)).toMatchObject({
    valid: true,
    decisions: { rerun: 36, notRerun: { no_definition: 12 } },
  });
});

it('answers what ran to its owner', async () => {
  const planted = await plantDeployment(house, { bindings: BINDINGS });
  await planted.execute({ id: 'a' });
  const [{ versionHash }] = (await planted.history()) as unknown as [{ versionHash: string }];
  const params = { ...planted.params, hash: versionHash };
  const { data } = await house.call('definitions.get', { params });
  expect(data).toMatchObject({ event: 'increment', versionHash, schemas: { counter: { name: 'counter' } } });
  const absent = house.call('definitions.get', { params: { ...params, hash: 'f'.repeat(64) } });
  await expect(absent).rejects.toMatchObject({ code: 'definition_not_found' });
});

/** Writes the last execution of an event anew, and all hashes from there on, as somebody with the database could. */
const rewriteLast = (address: string, event: string, change: Partial<HashedEntry>) =>
  withClient(house.databaseUrl, async (client) => {
    const { rows } = await client.query(
      `select j.*, d.address from runtime.journal j join runtime.deployments d on d.id = j.deployment_id
       where d.address = $1 order by j.seq`,
      [address],
    );
    const last = rows.findLastIndex((row) => row.event === event);
    rows[last] = { ...rows[last], ...change };
    for (let at = last; at < rows.length; at++) {
      rows[at].prev_hash = rows[at - 1].hash;
      rows[at].hash = hashOf(entryOf(rows[at]));
      const { deployment_id, seq, prev_hash, hash, result, recorded } = rows[at];
      await client.query(
        'update runtime.journal set prev_hash = $3, hash = $4, result = $5, recorded = $6 where deployment_id = $1 and seq = $2',
        [deployment_id, seq, prev_hash, hash, JSON.stringify(result), recorded],
      );
      await client.query('update runtime.journal_heads set hash = $2 where deployment_id = $1', [
        deployment_id,
        hash,
      ]);
    }
    return { seq: Number(rows[last].seq) };
  });

const entryOf = (
  row: Record<string, never> & { executed_at: Date; decided_at: Date; address: string; seq: string },
) =>
  ({
    v: row['v'],
    deployment: row.address,
    id: row['id'],
    seq: Number(row.seq),
    kind: row['kind'],
    event: row['event'],
    eventVersion: row['event_version'],
    versionHash: row['version_hash'],
    trigger: row['trigger'],
    caller: row['caller'],
    status: row['status'],
    input: row['input'],
    changes: row['changes'],
    result: row['result'],
    error: row['error'],
    llmHash: null,
    attestation: null,
    paymentKey: null,
    executedAt: row.executed_at.toISOString(),
    prevHash: row['prev_hash'],
    decidedAt: row.decided_at.toISOString(),
    evaluator: row['evaluator'],
    ...(row['recorded'] as unknown as object | null),
  }) as unknown as HashedEntry;
