import type { JournalEntryDraft } from '@orrery/deciding';
import { expect, it, vi } from 'vitest';
import { isEmpty } from '../../store/commit/batch.js';
import { AnsweredKeys } from '../../store/state/answered-keys.js';
import { ClaimedMessages } from '../../store/state/claimed-messages.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import { OpenRuns } from '../../store/state/deployment-state.js';
import { createInstanceMemory } from '../../store/state/instance-memory.js';
import type { ItemOutcome } from '../items/work-item.js';
import { decideBatch } from './decide-batch.js';
import type { LaneParts, QueuedItem, WaitingItems } from './queued-items.js';

const stateOf = (id: number, owner_account_id = 1) =>
  ({
    id,
    partition: id,
    epoch: 1,
    row: { deleted_at: null, owner_account_id },
    head: { seq: 0, hash: '', executedAt: '1970-01-01T00:00:00.000Z', totals: {} },
    instances: createInstanceMemory(),
    claimedSchemas: new Map(),
    keys: new AnsweredKeys(),
    messages: new ClaimedMessages(),
    runs: new OpenRuns(),
  }) as unknown as DeploymentState;

const draft = {
  ...{ kind: 'execution', trigger: 'admin', status: 'succeeded', changes: [], input: {} },
  ...{ result: null, error: null, attestation: null },
} as unknown as JournalEntryDraft;

function queuedFor(state: DeploymentState, outcome: Partial<ItemOutcome<unknown>>): QueuedItem {
  const item = {
    deploymentId: state.id,
    deadline: Number.POSITIVE_INFINITY,
    signal: { aborted: false },
    decide: () => ({
      kind: 'commit',
      effects: { entry: draft },
      answer: () => ({ reply: 'done' }),
      ...outcome,
    }),
  };
  return { item, state, stage: 'undecided', isolated: false, preparations: 1 } as unknown as QueuedItem;
}

function setUp({
  isAwaited = () => false,
  ...some
}: Partial<LaneParts> & { isAwaited?: WaitingItems['isAwaited'] } = {}) {
  const forget = vi.fn();
  const parts = {
    states: { isCurrent: () => true, forget } as never,
    ids: {} as never,
    lostTails: { endLostBy: () => undefined },
    journalForm: { version: 2 },
    clock: { now: () => 0, monotonic: () => 0 },
    ...some,
  } as LaneParts;
  return { forget, decide: (queue: QueuedItem[]) => decideBatch(parts, isAwaited, queue, () => false) };
}

it('an item that throws while it is staged leaves nothing to commit, and those before it are decided again', () => {
  const { decide, forget } = setUp();
  const [one, two] = [stateOf(1), stateOf(2)];
  const broken = () => {
    throw new Error('broken');
  };
  const before = [queuedFor(one, {}), queuedFor(two, {}), queuedFor(two, { kind: 'answer', answer: 'seen' })];
  const waits = queuedFor(one, { kind: 'wait', for: 'instance horse:H1', toHold: false });
  const failing = queuedFor(one, { answer: broken } as never);
  const after = queuedFor(two, {});
  const queue = [...before, waits, failing, after];
  const { batch, settled, unready, waiting } = decide(queue);
  expect(isEmpty(batch)).toBe(true);
  expect(settled).toEqual([
    { queued: failing, settlement: { error: expect.objectContaining({ code: 'internal' }) } },
  ]);
  expect([unready, waiting]).toEqual([[...before, waits], []]);
  expect(new Set(forget.mock.calls.flat())).toEqual(new Set([1, 2]));
  expect(queue).toEqual([after]);
});

it('an item that throws before it is staged harms no other', () => {
  const { decide, forget } = setUp();
  const state = stateOf(1);
  const failing = queuedFor(state, {});
  (failing.item as { decide: unknown }).decide = () => {
    throw new Error('broken');
  };
  const { batch, settled } = decide([queuedFor(state, {}), failing, queuedFor(state, {})]);
  expect(batch.entries.map(({ entry }) => entry.seq)).toEqual([1, 2]);
  expect(settled.map(({ settlement }) => 'error' in settlement)).toEqual([false, true, false]);
  expect(forget).not.toHaveBeenCalled();
});

/** Items take no time but those that are added to `slow`: they take 15 ms each. */
function setUpSlow() {
  const time = { at: 0 };
  const { decide } = setUp({ clock: { now: () => 0, monotonic: () => time.at } as never });
  const slow = (queued: QueuedItem): QueuedItem => {
    const { decide: decideItem } = queued.item;
    const item = queued.item as { decide: typeof decideItem };
    item.decide = (...given) => {
      time.at += 15;
      return decideItem(...given);
    };
    return queued;
  };
  return { decide, slow };
}

it('decides for a short time in one turn, at least one item, and leaves the rest in its order', () => {
  const { decide, slow } = setUpSlow();
  const state = stateOf(1);
  const items = Array.from({ length: 10 }, () => slow(queuedFor(state, {})));
  const queue = [...items];
  expect(decide(queue).settled.map(({ queued }) => queued)).toEqual(items.slice(0, 2));
  expect(queue).toEqual(items.slice(2));
});

it('what commits nothing takes time as well', () => {
  const { decide, slow } = setUpSlow();
  const queue = Array.from({ length: 10 }, () =>
    slow(queuedFor(stateOf(1), { kind: 'answer', answer: 'seen' })),
  );
  expect(isEmpty(decide(queue).batch)).toBe(true);
  expect(queue).toHaveLength(8);
});

it('others come before who had the last item: other accounts first; a deployment keeps its order', () => {
  const { decide, slow } = setUpSlow();
  const [busy, sibling, other] = [stateOf(1, 7), stateOf(2, 7), stateOf(3, 8)];
  const heavy = [busy, busy, busy, busy].map((state) => slow(queuedFor(state, {})));
  const siblings = [sibling, sibling].map((state) => slow(queuedFor(state, {})));
  const light = [queuedFor(other, {}), queuedFor(other, {})];
  const queue = [...heavy, ...siblings, ...light];
  decide(queue);
  expect(queue).toEqual([...light, ...siblings, ...heavy.slice(2)]);
  expect(decide(queue).settled.map(({ queued }) => queued)).toEqual([...light, ...siblings]);
});

it('many items that take no time share a batch', () => {
  const { decide } = setUpSlow();
  const queue = Array.from({ length: 400 }, () => queuedFor(stateOf(1), {}));
  expect(decide(queue).settled).toHaveLength(400);
});

it('a run is not staged before an item that waits to change what runs', () => {
  const state = stateOf(1);
  const run = { id: 'r', step: 0, claim: null, holds: null, staged: false, awaitsPayment: false };
  state.runs.set(run);
  const stages = { kind: 'record', run: { id: 'r', open: { ...run, staged: true }, write: { update: {} } } };
  const queued = () => queuedFor(state, { ...stages, settlement: { reply: undefined } } as never);
  const { waiting } = setUp({ isAwaited: (id, name) => id === 1 && name === 'what runs' }).decide([queued()]);
  expect(waiting).toMatchObject([{ waitsFor: { name: 'turn to stage', toHold: false } }]);
  expect(setUp().decide([queued()]).waiting).toEqual([]);
  // The steps of a run that is staged already go on.
  expect(setUp({ isAwaited: () => true }).decide([queued()]).waiting).toEqual([]);
});

it('commits and stages nothing that an entry of version 1 cannot say', () => {
  const recorded = { ...draft, recorded: { depth: 1 } };
  const staged = { write: { update: { staged: { entry: recorded } } } } as never;
  const outcomes: Partial<ItemOutcome<unknown>>[] = [
    { kind: 'commit', effects: { entry: recorded } },
    { kind: 'record', run: staged },
  ];
  for (const outcome of outcomes) {
    const { batch, settled } = setUp({ journalForm: { version: 1 } }).decide([
      queuedFor(stateOf(1), outcome),
    ]);
    expect(isEmpty(batch)).toBe(true);
    expect(settled[0]?.settlement).toMatchObject({ error: { code: 'unavailable' } });
  }
});
