import { randomUUID } from 'node:crypto';
import {
  type CallContext,
  type HistoryQuery,
  historyQuery,
  historyRpcs,
  type JsonObject,
} from '@orrery/contracts';
import { createSemaphore, FairSlots, systemClock } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { historyHandlers } from '../src/operations/history/handlers.js';
import type { SeenDeployment } from '../src/store/deployments/deployment-directory.js';
import { listHistory } from '../src/store/journal/history.js';
import { openRuntimeDatabase, plantDeployment } from './journal-fixture.js';

const db = await openRuntimeDatabase();
const race = await plantDeployment(db);
/** seq 1: creation, 2–13: executions of three kinds, 14: a manual write. */
await race.add({ kind: 'deployment_created', event: null, trigger: null, status: null });
for (let lap = 0; lap < 4; lap++) {
  await race.write(`H${lap % 2}`, { wins: lap });
  await race.add({ event: 'groom', trigger: 'public', caller: 'wallet:W' });
  await race.add({ status: 'failed', error: { code: 'template_failed', detail: 'no' }, trigger: 'cron' });
}
await race.write('H0', { wins: 9 }, { kind: 'instance_updated', event: null, trigger: null, status: null });

const list = (query: Record<string, unknown> = {}) =>
  listHistory(db, race, historyQuery.parse(query) as HistoryQuery);
const seqs = async (query: Record<string, unknown> = {}) => (await list(query)).data.map(({ seq }) => seq);

test('the history is the executions, newest first, with their total', async () => {
  const { data, pagination } = await list({ limit: '5' });
  expect(data.map(({ seq }) => seq)).toEqual([13, 12, 11, 10, 9]);
  expect(pagination).toEqual({ page: 1, limit: 5, total: 12, totalPages: 3 });
  expect(await seqs({ limit: '5', page: '3' })).toEqual([3, 2]);
  expect(await seqs({ page: '4' })).toEqual([]);
});

test('after goes on where a list ended, whatever was added meanwhile', async () => {
  expect(await seqs({ after: '5' })).toEqual([4, 3, 2]);
  expect(await seqs({ after: '5', limit: '1', include: 'all' })).toEqual([4]);
  expect(historyQuery.safeParse({ after: '5', page: '2' }).success).toBe(false);
});

test('include=all lists everything that happened', async () => {
  const { data, pagination } = await list({ include: 'all' });
  expect(data.map(({ seq }) => seq)).toEqual([14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect(data.at(-1)).toMatchObject({
    kind: 'deployment_created',
    event: null,
    status: null,
    stateChanges: {},
  });
  expect(pagination.total).toBe(14);
});

test.each<[Record<string, string>, number[]]>([
  [{ event: 'groom' }, [12, 9, 6, 3]],
  [{ event: 'none' }, []],
  [{ status: 'failed' }, [13, 10, 7, 4]],
  [{ trigger: 'public' }, [12, 9, 6, 3]],
  [{ trigger: 'public', status: 'failed' }, []],
  [{ event: 'race', status: 'succeeded' }, [11, 8, 5, 2]],
  [{ instance: 'horse:H0' }, [8, 2]],
  [{ instance: 'horse:H0', include: 'all' }, [14, 8, 2]],
  [{ instance: 'horse:H1', event: 'race' }, [11, 5]],
  [{ instance: 'horse:H1', event: 'groom' }, []],
  [{ instance: 'horse:none' }, []],
])('filter %j', async (query, expected) => {
  const { data, pagination } = await list(query);
  expect(data.map(({ seq }) => seq)).toEqual(expected);
  expect(pagination.total).toBe(expected.length);
});

test('an entry shows what it did and all that its hash covers', async () => {
  const [entry] = (await list({ instance: 'horse:H0', limit: '1' })).data;
  expect(entry).toMatchObject({
    v: 2,
    deployment: race.address,
    stateChanges: { 'horse:H0': { wins: 2 } },
    changes: [
      { entitySchema: 'horse', instanceId: 'H0', op: 'update', set: { wins: 2 }, unset: [], revision: 2 },
    ],
    caller: 'account:7',
    durationMs: 1.5,
    pushes: [],
  });
  expect(historyRpcs['history.get'].reply.safeParse({ data: entry })).toMatchObject({ success: true });
});

test('what is too deep, or too large for one answer, is refused', async () => {
  await expect(list({ page: '5001', limit: '20' })).rejects.toMatchObject({ code: 'page_too_deep' });
  const heavy = await plantDeployment(db);
  for (let n = 0; n < 60; n++) await heavy.add({ input: { text: 'x'.repeat(255 * 1024) } });
  const query = (limit: string) => listHistory(db, heavy, historyQuery.parse({ limit }) as HistoryQuery);
  await expect(query('60')).rejects.toMatchObject({ code: 'page_too_deep' });
  expect((await query('40')).data).toHaveLength(40);
});

test('counting stops at 10,000, and says so', async () => {
  const long = await plantDeployment(db);
  await long.add();
  await sql`insert into instance_changes select ${long.id}, 'horse', 'H', n from generate_series(1, 10500) n`.execute(
    db,
  );
  const { pagination } = await listHistory(
    db,
    long,
    historyQuery.parse({ instance: 'horse:H', include: 'all' }) as HistoryQuery,
  );
  expect(pagination).toMatchObject({ total: 10_000, totalIsMinimum: true });
});

test('instance with another filter looks through the latest 100,000 changes of that instance', async () => {
  const long = await plantDeployment(db);
  await long.add();
  await long.add();
  await sql`insert into instance_changes select ${long.id}, 'horse', 'H', n from generate_series(1, 100001) n`.execute(
    db,
  );
  const query = historyQuery.parse({ instance: 'horse:H', event: 'race' }) as HistoryQuery;
  const { data } = await listHistory(db, long, query);
  expect(data.map(({ seq }) => seq)).toEqual([2]);
});

const llm = { model: 'm', tokens: 9, request: { prompt: 'secret' }, response: { text: 'secret' } };
const modelled = await plantDeployment(db);
const id: string = randomUUID();
await modelled.add({ id, llm, pushes: { targetChains: ['base-sepolia'], onchain: null } });

const noDecisions = {
  reading: createSemaphore(1),
  computeLifetimes: async () => undefined,
  directory: {} as never,
  homes: {} as never,
  randomnessKeys: [],
  beacons: {} as never,
};

const handlers = (seen: Partial<SeenDeployment>) =>
  historyHandlers({
    db,
    access: { see: async () => ({ ...modelled, isLLMPublic: false, isOwner: false, ...seen }) } as never,
    verifying: new FairSlots(1),
    clock: systemClock,
    ...noDecisions,
  });
const params = { worldAddress: '1', address: modelled.address };
const call: CallContext = {
  caller: { kind: 'account', accountId: 8, scopes: ['read'] },
  requestId: 'r',
  deadline: Number.MAX_SAFE_INTEGER,
  signal: new AbortController().signal,
};
const get = async (seen: Partial<SeenDeployment>, historyId = id) =>
  (
    await handlers(seen)['history.get'](
      { params: { ...params, historyId }, query: {}, headers: {}, body: {} },
      call,
    )
  ).data.llm as JsonObject;

test("a model's texts are for the owner, or for all where the deployment says so", async () => {
  expect(await get({})).toEqual({ model: 'm', tokens: 9 });
  expect(await get({ isOwner: true })).toEqual(llm);
  expect(await get({ isLLMPublic: true })).toEqual(llm);
  const request = { params, query: historyQuery.parse({}), headers: {}, body: {} };
  const listed = await handlers({ isOwner: true })['history.list'](request as never, call);
  expect(listed.data[0]?.llm).toEqual({ model: 'm', tokens: 9 });
  expect(listed.data[0]?.pushes).toEqual([
    {
      chain: 'base-sepolia',
      number: null,
      status: 'queued',
      transaction: null,
      block: null,
      explorerUrl: null,
      error: null,
    },
  ]);
});

test.each(['x', randomUUID(), '../1'])('there is no entry %s', async (historyId) => {
  await expect(get({ isOwner: true }, historyId)).rejects.toMatchObject({ code: 'history_entry_not_found' });
});

test('next of a verification is a from that the contract takes, to the last instance', async () => {
  const see = async (): Promise<SeenDeployment> => ({
    ...{ ...race, worldId: 1, worldAddress: '0x1', isLLMPublic: false, isCodePublic: false, isOwner: true },
  });
  const handlers = historyHandlers({
    ...noDecisions,
    db,
    clock: systemClock,
    access: { see } as never,
    verifying: new FairSlots(1),
  });
  const { signal } = new AbortController();
  const inTime = { ...call, deadline: Date.now() + 30_000, signal };
  const params = { worldAddress: '1', address: race.address };
  const parts: number[] = [];
  for (let from: string | null = '1'; from !== null; ) {
    const request = { params, query: { from, limit: '7' }, headers: {}, body: {} };
    const valid = historyRpcs['history.verify'].request.parse(request) as never;
    const { data } = await handlers['history.verify'](valid, inTime);
    expect(data).toMatchObject({ valid: true });
    parts.push(data.entries);
    from = data.next === null ? null : String(data.next);
  }
  // Two pages of entries; the comparison of the two instances has a call of its own.
  expect(parts).toEqual([7, 7, 0]);
});

test('verifications take turns by account, and the time of each begins with its turn', async () => {
  const signal = new AbortController().signal;
  let now = 0;
  const races = await Promise.all([1, 2, 3].map(() => plantDeployment(db)));
  for (const one of races) for (let lap = 0; lap < 40; lap++) await one.write('H', { wins: lap });
  const byAddress = new Map(races.map((one) => [one.address, one]));
  const handlers = historyHandlers({
    ...noDecisions,
    db,
    // Most of the time of a call goes by until the one before it is answered.
    clock: { ...systemClock, monotonic: () => now },
    access: { see: async ({ address }: { address: string }) => byAddress.get(address) } as never,
    verifying: new FairSlots(1),
  });
  const answered: string[] = [];
  const verify = async (caller: CallContext['caller'], address: string) => {
    const request = { params: { worldAddress: '1', address }, query: {}, headers: {}, body: {} };
    const valid = historyRpcs['history.verify'].request.parse(request) as never;
    const { data } = await handlers['history.verify'](valid, { ...call, caller, signal, deadline: 10_000 });
    answered.push(caller.kind === 'account' ? String(caller.accountId) : caller.kind);
    now = 9000;
    return data.next;
  };
  const as = (accountId: number) => ({ kind: 'account' as const, accountId, scopes: ['read' as const] });
  const anonymous = { kind: 'anonymous' as const };
  const [first, second, third] = races.map(({ address }) => address) as [string, string, string];
  const asked = [first, second, third, first].map((address) => verify(as(1), address));
  const others = [verify(anonymous, second), verify(anonymous, third), verify(as(2), third)];
  expect(await Promise.all([...asked, ...others])).toEqual(Array(7).fill(null));
  expect(answered).toEqual(['1', '1', 'anonymous', '2', '1', 'anonymous', '1']);
});
