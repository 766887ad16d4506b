import { type Caller, type HistoryEntry, runtimeContract } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { createDeciderDouble } from './decider-double.js';
import { incrementVersion } from './fake-catalog.js';
import { modelNamed } from './model-double.js';
import { WALLET } from './paying.js';
import { codeOf, type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
const decider = createDeciderDouble();
let database: Database<RuntimeSchema>;

const publicly = { executionSettings: { visibility: 'public' as const, priceUsd: 0.01 } };
/** Notes all that a template sees beside the state; it fails for the counter `bad`. */
const noting = (by: number) => ({
  ...incrementVersion,
  event: 'note',
  mutationSettings: {
    mode: 'direct' as const,
    template: {
      stateChanges: {
        'counter:{{input.id}}': {
          count: { $increment: by },
          label: '{{ input.id == "bad" ? "c" : "a" }}',
          seen: [
            '{{walletAddress}}',
            '{{timestamp}}',
            '{{date}}',
            '{{unix}}',
            '{{deployment}}',
            '{{event}}',
            '{{world}}',
          ],
        },
      },
      result: { at: '{{timestamp}}', known: '{{ size(entities.counter) }}' },
    },
  },
});

beforeAll(async () => {
  house.catalog.plantVersion({ ...noting(1), versionId: 71, version: 1 });
  house.catalog.plantVersion({ ...noting(1), ...publicly, versionId: 72, version: 2 });
  house.catalog.plantVersion({ ...noting(10), versionId: 73, version: 3, inputSchema: { id: 'string' } });
  house.catalog.plantVersion({
    event: 'lines_up',
    versionId: 74,
    readEntities: [{ schema: 'counter' }],
    mutationSettings: {
      mode: 'direct',
      template: { result: { line: '{{ entities.counter.map(id, id) }}' } },
    },
  });
  house.catalog.plantVersion({
    event: 'judge',
    versionId: 80,
    behaviorPrompt: 'Judge.',
    inputSchema: { id: 'string' },
    readEntities: [{ schema: 'counter', filter: ['id'] }],
    stateChanges: { counter: 'partial' },
  });
  await house.boot({
    decider: decider.decider,
    models: [modelNamed('double', true), modelNamed('other')],
  });
  const logger = createLogger({ service: 'test', level: 'error' });
  const address = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
  database = house.resources.use('looking on', await connect<RuntimeSchema>(address));
});

const asSchedule = (deployment: string, input: object) =>
  house.bus.call(
    runtimeContract.rpcs['executions.forService'],
    {
      deployment,
      event: 'note',
      input,
      trigger: 'cron',
      keys: [{ scope: 'occurrence', key: `${deployment} 1 1` }],
    } as never,
    {
      caller: { kind: 'schedule', event: 'note' } as Caller,
      requestId: 'test',
      deadline: Date.now() + 20_000,
    },
  );

/** As if a wallet had executed and paid: its entry is what a replay sees. */
const asWallet = (id: string, payment = 'trigger = $2, caller = $3') =>
  database.pool.query(`update journal set ${payment} where id = $1`, [id, 'public', `wallet:${WALLET}`]);

/** A history with all that a deployment without models does; the last seq is answered. */
async function plantHistory() {
  const source = await plantDeployment(house, { bindings: [{ event: 'note', eventVersion: 1 }] });
  const { params, deployment } = source;
  const update = (instanceId: string, state: object) =>
    house.call('instances.update', { params: { ...params, instanceId }, body: { state } });
  await source.createCounter('a', { label: 'b' });
  await source.execute({ id: 'a' }, {}, 'note');
  await update('a', { count: 5, label: 'a', extra: 1 });
  await source.execute({ id: 'new' }, {}, 'note');
  await expect(source.execute({ id: 'bad' }, {}, 'note')).rejects.toThrow();
  await house.call('bindings.update', { params, body: [{ event: 'note', eventVersion: 2 }] });
  await source.execute({ id: 'a', by: 3 }, {}, 'note');
  await asSchedule(deployment.address, { id: 'a' });
  await house.call('deployments.pause', { params });
  await house.call('deployments.resume', { params });
  await update('a', { count: 40, label: 'a' });
  await house.call('instances.delete', { params: { ...params, instanceId: 'new' } });
  await source.createCounter('new');
  await source.execute({ id: 'new' }, {}, 'note');
  const entries = await source.history({ include: 'all' });
  return { ...source, entries: [...entries].reverse(), last: entries[0]?.seq ?? 0 };
}

const forkOf = (source: { deployment: { address: string } }, sourceSeq: number, body: object = {}) =>
  plantDeployment(house, {
    name: 'What if',
    bindings: [],
    purpose: 'what_if',
    sourceDeployment: source.deployment.address,
    sourceSeq,
    ...body,
  });
type Fork = Awaited<ReturnType<typeof forkOf>>;

const replay = async ({ params }: Fork, body: object, headers: Record<string, string> = {}) =>
  (await house.call('deployments.replay', { params, body, headers })).data;

/** What is the same in both histories if nothing is different. */
const outcomeOf = ({
  event,
  eventVersion,
  versionHash,
  trigger,
  caller,
  status,
  input,
  result,
  error,
  ...entry
}: HistoryEntry) => ({
  ...{ kind: entry.kind, event, eventVersion, versionHash, trigger, caller, status, input, result, error },
  changes: entry.changes.map(({ revision: _, ...change }) => change),
});

describe('a replay without changes', () => {
  it('gives the same entries from any position on', async () => {
    const source = await plantHistory();
    const inOneWallet = source.entries.find(({ trigger }) => trigger === 'admin');
    expect(inOneWallet).toBeDefined();
    for (const from of [2, 4, 7]) {
      const fork = await forkOf(source, from - 1);
      const replayed = source.entries.filter(({ seq }) => seq >= from);
      for (const original of replayed) {
        const { outcome, entry, error } = await replay(fork, { seq: original.seq });
        const isReplayed = original.kind === 'execution' || original.kind.startsWith('instance_');
        expect([error, outcome]).toEqual([
          null,
          isReplayed ? (original.kind === 'execution' ? 'executed' : 'written') : 'skipped',
        ]);
        if (entry !== null) expect(outcomeOf(entry)).toEqual(outcomeOf(original));
      }
      const states = async (params: object, query: Record<string, string>) => {
        const { data } = await house.call('instances.list', { params: params as never, query });
        return new Map(data.map(({ instanceId, state }) => [instanceId, state]));
      };
      expect(await states(fork.params, {})).toEqual(
        await states(source.params, { atSeq: String(source.last) }),
      );
      expect(await fork.verify()).toMatchObject({ valid: true });
    }
  });

  it('shows templates the wallet that has signed, and asks for no payment', async () => {
    const source = await plantHistory();
    const paid = source.entries.find(
      ({ eventVersion, trigger }) => eventVersion === 2 && trigger === 'admin',
    );
    await asWallet(paid?.id ?? '');
    const fork = await forkOf(source, (paid?.seq ?? 0) - 1);
    const { entry } = await replay(fork, { seq: paid?.seq });
    expect(entry).toMatchObject({
      trigger: 'public',
      caller: `wallet:${WALLET}`,
      status: 'succeeded',
      payment: null,
    });
    const seen = entry?.changes[0]?.set['seen'];
    expect(seen).toEqual([
      WALLET,
      paid?.decidedAt,
      paid?.decidedAt?.slice(0, 10),
      Math.floor(Date.parse(paid?.decidedAt ?? '') / 1000),
      source.deployment.address,
      'note',
      source.deployment.worldAddress,
    ]);
    // The entry says when it was replayed, and for when.
    expect(entry?.decidedAt).toBe(paid?.decidedAt);
    expect(Date.parse(entry?.executedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(fork.deployment.createdAt));
  });

  it('shows instances in the order of then, also of what has been deleted or created anew since', async () => {
    const source = await plantDeployment(house, { bindings: [{ event: 'lines_up', eventVersion: 1 }] });
    const remove = (instanceId: string) =>
      house.call('instances.delete', { params: { ...source.params, instanceId } });
    for (const id of ['c', 'b', 'a']) await source.createCounter(id);
    const { seq } = (await source.execute({}, {}, 'lines_up')).data as { seq: number };
    for (const id of ['c', 'b']) await remove(id);
    await source.createCounter('b');
    const fork = await forkOf(source, seq - 1);
    const { entry } = await replay(fork, { seq });
    expect(entry).toMatchObject({ result: { line: ['c', 'b', 'a'] } });
    const { data } = await house.call('history.verify', {
      params: fork.params,
      query: { decisions: 'true' },
    });
    expect(data).toMatchObject({ valid: true, decisions: { rerun: 1, notRerun: {} } });
  });

  it('skips what a payment has failed', async () => {
    const source = await plantHistory();
    const failed = source.entries.find(({ status }) => status === 'failed');
    await database.pool.query(
      `update journal set error = '{"code":"payment_refused","detail":"No."}' where id = $1`,
      [failed?.id],
    );
    const fork = await forkOf(source, source.last);
    expect(await replay(fork, { seq: failed?.seq })).toMatchObject({ outcome: 'skipped', entry: null });
  });
});

describe('an event that remembers', () => {
  const remembering = (event: string, versionId: number, readHistory: object, more: object = {}) =>
    house.catalog.plantVersion({
      ...incrementVersion,
      event,
      versionId,
      readEntities: [{ schema: 'counter', filter: ['id'] }],
      readHistory: readHistory as never,
      mutationSettings: {
        mode: 'direct',
        template: {
          stateChanges: { 'counter:{{input.id}}': { count: { $increment: 1 } } },
          result: { seen: '{{ history }}', in: '{{ deployment }}' },
        },
      },
      ...more,
    });
  beforeAll(() => {
    remembering('recalls', 91, { last: 4 });
    remembering('recalls_own', 92, { last: 50, instances: 'read', events: ['increment', 'recalls'] });
    remembering('talks', 93, { last: 3 }, { mutationSettings: null, behaviorPrompt: 'Talk.' });
  });
  const seenBy = (entry: Pick<HistoryEntry, 'result'> | null | undefined) =>
    (entry?.result as { seen?: { input: object }[] } | null | undefined)?.seen ?? [];
  const verifyDecisions = async ({ params }: Fork) =>
    (await house.call('history.verify', { params, query: { decisions: 'true' } })).data;

  async function plantMemories() {
    const source = await plantDeployment(house, {
      bindings: ['increment', 'recalls', 'recalls_own', 'note'].map((event) => ({ event, eventVersion: 1 })),
    });
    for (let lap = 0; lap < 4; lap += 1) {
      await source.execute({ id: lap % 2 ? 'a' : 'b' });
      await source.execute({ id: 'a' }, {}, 'recalls');
      await source.execute({ id: 'b' }, {}, 'recalls_own');
      await expect(source.execute({ id: 'bad' }, {}, 'note')).rejects.toThrow();
    }
    const entries = (await source.history({ include: 'all', limit: '100' })).reverse();
    return { ...source, entries };
  }

  it('sees in a replay without changes what it saw, from any position on', async () => {
    const source = await plantMemories();
    for (const from of [2, 5, 10]) {
      const fork = await forkOf(source, from - 1);
      for (const original of source.entries.filter(({ seq }) => seq >= from)) {
        const { entry } = await replay(fork, { seq: original.seq });
        expect(entry).toMatchObject({
          result: original.result,
          replayOf: { seq: original.seq, executedAt: original.executedAt },
        });
        expect(entry?.readHistoryHash).toBe(original.readHistoryHash);
      }
      expect(await fork.verify()).toMatchObject({ valid: true });
      expect(await verifyDecisions(fork)).toMatchObject({ valid: true, decisions: { notRerun: {} } });
    }
  });

  it('sees what the fork has made of earlier entries, and of others what was recorded', async () => {
    const source = await plantMemories();
    const fork = await forkOf(source, 1);
    const [first, second] = source.entries.filter(({ kind }) => kind === 'execution');
    await replay(fork, { seq: first?.seq, input: { id: 'else' } });
    await replay(fork, { seq: first?.seq, input: { id: 'other' } });
    const { entry } = await replay(fork, { seq: second?.seq });
    expect(seenBy(entry)).toMatchObject([
      {
        seq: first?.seq,
        at: first?.executedAt,
        input: { id: 'other' },
        changes: { 'counter:other': { count: 1 } },
      },
    ]);
    const later = source.entries.find(({ seq, event }) => seq > 8 && event === 'recalls_own');
    const skipping = await replay(fork, { seq: later?.seq });
    const seen = seenBy(skipping.entry);
    expect(seen.map(({ input }) => input)).not.toContainEqual({ id: 'other' });
    expect(seen.at(-1)).toEqual(seenBy(later).at(-1));
    expect(await verifyDecisions(fork)).toMatchObject({ valid: true, decisions: { notRerun: {} } });
  });

  it('is given to a model as well, and replays at once wait for each other', async () => {
    const source = await plantMemories();
    const { params } = source;
    await house.call('bindings.add', { params, body: [{ event: 'talks', eventVersion: 1 }] });
    const talking = source.execute({ id: 'a' }, {}, 'talks');
    const first = await decider.calledBefore(talking);
    first.answer({ stateChanges: { 'counter:a': { count: 50 } } }, { llm: { model: 'double' } });
    const { seq } = (await talking).data as { seq: number };
    const fork = await forkOf(source, 1);
    const executions = source.entries.filter(({ kind }) => kind === 'execution');
    const outcomes = await Promise.all(executions.map((one) => replay(fork, { seq: one.seq })));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(executions.map(() => 'executed'));
    const asking = replay(fork, { seq });
    const again = await decider.calledBefore(asking);
    expect(again.request.history?.entries.map((one) => one['seq'])).toEqual(
      first.request.history?.entries.map((one) => one['seq']),
    );
    again.answer({ stateChanges: { 'counter:a': { count: 60 } } }, { llm: { model: 'double' } });
    expect((await asking).entry).toMatchObject({ status: 'succeeded', replayOf: { seq } });
    expect(await verifyDecisions(fork)).toMatchObject({ valid: true, decisions: { notRerun: { model: 1 } } });
  });
});

describe('a changed replay', () => {
  it('executes another version or another input, and writes to what differs', async () => {
    const source = await plantHistory();
    const fork = await forkOf(source, 2);
    const changed = await replay(fork, { seq: 3, eventVersion: 3 });
    expect(changed.entry).toMatchObject({ eventVersion: 3, stateChanges: { 'counter:a': { count: 10 } } });
    const other = await replay(fork, { seq: 3, input: { id: 'else' } });
    expect(other.entry).toMatchObject({
      input: { id: 'else' },
      stateChanges: { 'counter:else': { count: 1 } },
    });
    await replay(fork, { seq: 4 });
    expect((await fork.counter('a')).state).toMatchObject({ count: 5, extra: 1 });
    const last = source.entries.filter(({ kind }) => kind === 'instance_updated').at(-1);
    await replay(fork, { seq: last?.seq });
    expect((await fork.counter('a')).state).toEqual({ count: 40, label: 'a' });
  });

  it('tells what the fork refuses, and goes on', async () => {
    const source = await plantHistory();
    const fork = await forkOf(source, source.last);
    const rebound = source.entries.find(
      ({ eventVersion, trigger }) => eventVersion === 2 && trigger === 'admin',
    );
    const refused = (body: object) => replay(fork, body).then(({ outcome, error }) => [outcome, error?.code]);
    expect(await refused({ seq: rebound?.seq, eventVersion: 3 })).toEqual(['refused', 'invalid_input']);
    expect(await refused({ seq: 3, eventVersion: 9 })).toEqual(['refused', 'unknown_event_version']);
    expect(await refused({ seq: 2 })).toEqual(['refused', 'entity_instance_exists']);
    expect(await codeOf(replay(fork, { seq: 9999 }))).toBe('history_entry_not_found');
    expect(await codeOf(replay(fork, { seq: 3, aiModelId: 'none' }))).toBe('unknown_ai_model');
  });

  it('happens once for an Idempotency-Key, whether it succeeds, fails or writes', async () => {
    const source = await plantHistory();
    const fork = await forkOf(source, 1);
    const failed = source.entries.find(({ status }) => status === 'failed');
    for (const seq of [2, 3, failed?.seq ?? 0, source.last]) {
      const once = () => replay(fork, { seq }, { 'idempotency-key': `k${seq}` });
      expect(await once()).toEqual(await once());
    }
    expect(await fork.history({ include: 'all' })).toHaveLength(5);
  });

  it('asks the model that is named, else the one that was asked', async () => {
    const source = await plantDeployment(house, { bindings: [{ event: 'judge', eventVersion: 1 }] });
    const executing = source.execute({ id: 'a' }, {}, 'judge');
    const first = await decider.calledBefore(executing);
    const llm = { model: 'double', usage: { inputTokens: 7, outputTokens: 3, usd: null } };
    first.answer({ stateChanges: { 'counter:a': { count: 1 } } }, { llm });
    const { seq } = (await executing).data as { seq: number };
    const fork = await forkOf(source, seq - 1, { aiModelId: 'other' });
    for (const [body, model] of [
      [{}, 'double'],
      [{ aiModelId: 'other' }, 'other'],
    ] as const) {
      const asking = replay(fork, { seq, ...body });
      const call = await decider.calledBefore(asking);
      expect(call.request.model.record.modelId).toBe(model);
      call.answer({ stateChanges: { [`counter:${model}`]: { count: 2 } } }, { llm: { ...llm, model } });
      expect(await asking).toMatchObject({
        outcome: 'executed',
        entry: { status: 'succeeded', llm: { model } },
      });
    }
  });
});

describe('a what-if fork', () => {
  it('is marked in its record and its first entry, and binds nothing', async () => {
    const source = await plantHistory();
    const fork = await forkOf(source, 3);
    expect(fork.deployment).toMatchObject({ purpose: 'what_if', isKept: false });
    expect(source.deployment).not.toHaveProperty('purpose');
    const { data: bindings } = await house.call('bindings.list', { params: fork.params });
    expect(bindings).toEqual([]);
    const [first] = await fork.history({ include: 'all' });
    expect(first?.input).toMatchObject({ purpose: 'what_if', bindings: [] });
  });

  it('is refused where it would not be quiet', async () => {
    const source = await plantHistory();
    const bound = [{ event: 'note', eventVersion: 1 }];
    expect(await codeOf(forkOf(source, 3, { bindings: bound }))).toBe('validation_failed');
    expect(await codeOf(forkOf(source, 3, { mode: 'locked' }))).toBe('validation_failed');
    expect(await codeOf(forkOf(source, undefined as never))).toBe('validation_failed');
    const { params, execute } = await forkOf(source, 3);
    expect(await codeOf(house.call('bindings.add', { params, body: bound }))).toBe('what_if_refused');
    expect(await codeOf(house.call('deployments.publish', { params }))).toBe('what_if_refused');
    expect(await codeOf(house.call('deployments.lock', { params }))).toBe('what_if_refused');
    expect(await codeOf(execute({ id: 'a' }, {}, 'note'))).toBe('event_not_bound');
  });

  it('alone takes replays, while its source is there', async () => {
    const source = await plantHistory();
    expect(await codeOf(replay(source as never, { seq: 2 }))).toBe('what_if_only');
    const clone = await plantDeployment(house, { bindings: [], sourceDeployment: source.deployment.address });
    expect(await codeOf(replay(clone, { seq: 2 }))).toBe('what_if_only');
    const fork = await forkOf(source, 1);
    await house.call('deployments.delete', { params: source.params });
    expect(await codeOf(replay(fork, { seq: 2 }))).toBe('unknown_deployment');
  });

  it('is deleted an hour after its last entry, unless it is kept', async () => {
    const source = await plantHistory();
    const [unused, kept, used] = [await forkOf(source, 3), await forkOf(source, 3), await forkOf(source, 3)];
    const { data } = await house.call('deployments.update', { params: kept.params, body: { isKept: true } });
    expect(data.isKept).toBe(true);
    expect(
      await codeOf(house.call('deployments.update', { params: source.params, body: { isKept: true } })),
    ).toBe('what_if_only');
    for (const { deployment } of [unused, kept, source])
      await database.pool.query(
        `update journal set executed_at = now() - interval '61 minutes' where deployment_id = $1`,
        [deployment.id],
      );
    const sweeper = await house.boot();
    const isThere = ({ params }: Pick<Fork, 'params'>) =>
      house.call('deployments.get', { params }).then(
        () => true,
        () => false,
      );
    await vi.waitFor(async () => expect(await isThere(unused)).toBe(false));
    expect([await isThere(kept), await isThere(used), await isThere(source)]).toEqual([true, true, true]);
    await sweeper.leases.stop();
  });
});
