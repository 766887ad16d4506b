import { canonicalHash, ServiceError } from '@orrery/contracts';
import { describe, expect, it, vi } from 'vitest';
import type { UsedKey } from '../../store/runs/once-store.js';
import { AnsweredKeys } from '../../store/state/answered-keys.js';
import { ClaimedMessages } from '../../store/state/claimed-messages.js';
import { type DeploymentState, keyIdOf, OpenRuns } from '../../store/state/deployment-state.js';
import { databaseThat } from '../../store/tables/database-double.test-support.js';
import { expiryOf, keyedItem, onceItem } from './once-item.js';
import type { WorkItem } from './work-item.js';

const readAt = 1_000_000;
const state = { messages: new ClaimedMessages(), readAt } as DeploymentState;
const expired = () => {
  throw new ServiceError('message_expired');
};
const use = (changes: Partial<UsedKey> = {}): UsedKey => ({
  scope: 'message',
  key: 'k',
  request_hash: 'same',
  deployment_id: 1,
  run_id: null,
  reply: { reply: 'the first answer' },
  ...changes,
});

function itemFor(used: UsedKey | undefined) {
  const prepare = vi.fn();
  const item = {
    prepare,
    decide: () => ({ kind: 'answer', answer: 'decided' }),
  } as unknown as WorkItem<string>;
  const once = {
    keys: [{ scope: 'message' as const, key: 'k' }],
    requestHash: 'same',
    refuseNew: expired,
  };
  return { prepare, item: onceItem(async () => used, item, once) };
}

describe('an item with once-keys', () => {
  it('gives a repetition the stored answer, whatever a new request would be refused for', async () => {
    const { item, prepare } = itemFor(use());
    await item.prepare(state);
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'answer', answer: 'the first answer' });
    expect(prepare).not.toHaveBeenCalled();
  });

  it('refuses a new request before anything of it is prepared', async () => {
    const { item, prepare } = itemFor(undefined);
    await expect(item.prepare(state)).rejects.toMatchObject({ code: 'message_expired' });
    expect(prepare).not.toHaveBeenCalled();
  });

  it('refuses a key of another request as used', async () => {
    const { item } = itemFor(use({ request_hash: 'other' }));
    await expect(item.prepare(state)).rejects.toMatchObject({ code: 'message_already_used' });
  });
});

it('every key of a request counts: one that another request has used refuses it, beside one of its own', async () => {
  const own = use();
  const foreign = use({ scope: 'payment', key: 'p', request_hash: 'other' });
  const keys = [
    { scope: 'message' as const, key: 'k' },
    { scope: 'payment' as const, key: 'p' },
  ];
  const findUse = async ({ scope }: { scope: string }) => (scope === 'message' ? own : foreign);
  const inner = { prepare: vi.fn(), decide: vi.fn() } as unknown as WorkItem<string>;
  const item = onceItem(findUse, inner, { keys, requestHash: 'same' });
  await expect(item.prepare(state)).rejects.toMatchObject({ code: 'payment_already_used' });
});

const HOUR_MS = 3_600_000;

it.each([
  [5 * 60_000, 24 * HOUR_MS],
  [48 * HOUR_MS, 48 * HOUR_MS],
])('a message with a window of %i ms is remembered for %i ms', (windowMs, kept) => {
  const now = 1_000_000;
  expect(expiryOf({ scope: 'message', key: 'k', windowMs }, now)).toEqual(new Date(now + kept));
  for (const scope of ['payment', 'occurrence'] as const)
    expect(expiryOf({ scope, key: 'k', windowMs }, now)).toBeNull();
});

describe('a message that seems new', () => {
  const signedAfter = readAt + 1;
  const commit = { kind: 'commit', effects: {} };

  function itemOf(used: UsedKey | undefined, decided: object, signedAt = signedAfter) {
    const findUse = vi.fn(async () => used);
    const decide = () => {
      if (decided instanceof Error) throw decided;
      return decided;
    };
    const item = { prepare: vi.fn(), decide } as unknown as WorkItem<string>;
    const keys = [{ scope: 'message' as const, key: 'k' }];
    return { findUse, item: onceItem(findUse, item, { keys, requestHash: 'same', signedAt }) };
  }

  it('is not looked for before it is claimed', async () => {
    const { findUse, item } = itemOf(undefined, commit);
    await item.prepare(state);
    expect(item.decide(state, {} as never, 0)).toMatchObject({
      kind: 'commit',
      effects: { onceKeys: [{ kind: 'claim', key: 'k' }] },
    });
    expect(findUse).not.toHaveBeenCalled();
  });

  it.each([
    ['signed before the deployment was read', { messages: new ClaimedMessages(), readAt }, readAt],
    ['claimed since', { messages: claimed('k'), readAt }, signedAfter],
  ])('is looked for where it was %s', async (_, known, signedAt) => {
    const { findUse, item } = itemOf(use(), commit, signedAt);
    await item.prepare(known as DeploymentState);
    expect(findUse).toHaveBeenCalledOnce();
    expect(item.decide(state, {} as never, 0)).toMatchObject({ answer: 'the first answer' });
  });

  it.each([
    ['refuses', { kind: 'refuse', error: new ServiceError('deployment_paused') }],
    ['throws for', new ServiceError('invalid_input')],
  ])('is looked for before the item %s it: a repetition gets the stored answer', async (_, decided) => {
    const { findUse, item } = itemOf(use(), decided);
    await item.prepare(state);
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'prepare' });
    await item.prepare(state);
    expect(findUse).toHaveBeenCalledOnce();
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'answer', answer: 'the first answer' });
  });

  it('is refused as the item says where it is new indeed', async () => {
    const { item } = itemOf(undefined, { kind: 'refuse', error: new ServiceError('deployment_paused') });
    await item.prepare(state);
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'prepare' });
    await item.prepare(state);
    expect(item.decide(state, {} as never, 0)).toMatchObject({ kind: 'refuse' });
  });

  it('is looked for before its preparation is refused', async () => {
    const { findUse, item } = itemOf(use(), commit);
    const refusing = onceItem(
      findUse,
      { ...item, prepare: () => Promise.reject(new ServiceError('event_not_bound')) },
      { keys: [{ scope: 'message', key: 'k' }], requestHash: 'same', signedAt: signedAfter },
    );
    await refusing.prepare(state);
    expect(refusing.decide(state, {} as never, 0)).toMatchObject({ answer: 'the first answer' });
  });
});

function claimed(key: string): ClaimedMessages {
  const messages = new ClaimedMessages();
  messages.add(key, readAt);
  return messages;
}

describe('an item with an Idempotency-Key', () => {
  const keyed = { accountId: 1, operation: 'execute', key: 'k', request: {}, now: 0 };
  const first = { reply: 'the first answer' };
  const commit = { kind: 'commit', effects: {} };

  /** A deployment in memory and its database, whose rows are given, and an item that decides so. */
  function setUp(decided: object, rows: readonly object[] = []) {
    const keys = new AnsweredKeys();
    const inner = { prepare: vi.fn(), decide: () => decided } as unknown as WorkItem<string>;
    const found = [...rows];
    const item = keyedItem(
      databaseThat(() => found),
      inner,
      keyed,
    );
    /** A commit stores an answer, after so many others. */
    const answered = (at: number, others = 0) => {
      const one = { requestHash: canonicalHash({}), reply: first, at, bytes: 1 };
      keys.add(keyIdOf(keyed), one, -2);
      for (let seq = 0; seq < others; seq += 1) keys.add(`other ${seq}`, one, seq);
      found.push({ request_hash: one.requestHash, reply: first, created_at: new Date(at) });
    };
    const state = { keys, runs: new OpenRuns() } as unknown as DeploymentState;
    return { item, state, answered };
  }

  it('answers what was committed since it was prepared, from memory', async () => {
    const { item, state, answered } = setUp(commit);
    await item.prepare(state);
    answered(0);
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'answer', answer: first.reply });
  });

  it('is executed again after 24 hours, however long its deployment is in memory', async () => {
    const { item, state } = setUp(commit);
    state.keys.add(keyIdOf(keyed), { requestHash: canonicalHash({}), reply: first, at: 0, bytes: 1 }, 0);
    await item.prepare(state);
    expect(item.decide(state, {} as never, 25 * HOUR_MS)).toMatchObject({
      kind: 'commit',
      effects: { key: { key: 'k' } },
    });
  });

  it.each([
    ['begins a run', { kind: 'record' }],
    ['is refused', { kind: 'refuse', error: new ServiceError('event_not_bound') }],
  ])('is looked up again before it %s where its answer may be forgotten', async (_, decided) => {
    const { item, state, answered } = setUp(decided);
    await item.prepare(state);
    answered(0, 300);
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'prepare' });
    await item.prepare(state);
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'answer', answer: first.reply });
  });

  it('begins no run as long as its answer may be forgotten', async () => {
    const { item, state, answered } = setUp({ kind: 'record' });
    await item.prepare(state);
    for (let seq = 0; seq < 300; seq += 1)
      state.keys.add(`other ${seq}`, { requestHash: '', reply: null, at: 0, bytes: 1 }, seq);
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'prepare' });
    await item.prepare(state);
    answered(0, 600);
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'prepare' });
    await item.prepare(state);
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'answer', answer: first.reply });
  });

  it('is looked up again once at most; a commit finds its key by itself', async () => {
    const committing = setUp(commit);
    const refused = setUp({ kind: 'refuse' });
    for (const { item, state } of [committing, refused]) {
      await item.prepare(state);
      for (let seq = 0; seq < 300; seq += 1)
        state.keys.add(`other ${seq}`, { requestHash: '', reply: null, at: 0, bytes: 1 }, seq);
    }
    expect(committing.item.decide(committing.state, {} as never, 0)).toMatchObject({ kind: 'commit' });
    const kinds = [1, 2].map(() => refused.item.decide(refused.state, {} as never, 0).kind);
    expect(kinds).toEqual(['prepare', 'refuse']);
  });
});
