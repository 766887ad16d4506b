import { setImmediate } from 'node:timers/promises';
import { createLogger, createSemaphore } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import type { DeploymentState } from '../state/deployment-state.js';
import { createBatches } from './batches.js';
import type { QueuedItem } from './queued-item.js';

const stateOf = (id: number) =>
  ({ id, partition: id, epoch: 1, row: { deleted_at: null }, runs: new Map() }) as unknown as DeploymentState;

/** An item that decides on a step of a run, the least that is committed. */
function itemFor(state: DeploymentState): QueuedItem {
  const run = { id: 'run', open: null, write: { insert: {} } };
  const item = {
    deploymentId: state.id,
    deadline: Number.POSITIVE_INFINITY,
    signal: { aborted: false },
    decide: () => ({ kind: 'record', run, settlement: { reply: 'done' } }),
  };
  const rest = { state, needs: undefined, isolated: false, rounds: 1, reject: vi.fn(), resolve: vi.fn() };
  return { item, ...rest } as unknown as QueuedItem;
}

const COMMITTED = { kind: 'committed' } as const;
const REFUSED = { kind: 'refused', lost: [], heads: [], runs: [], keys: [] } as const;

type Dependencies = Parameters<typeof createBatches>[0];

function batches(some: Partial<Dependencies>) {
  return createBatches({
    states: { isCurrent: () => true, forget: vi.fn(), trim: vi.fn() } as never,
    commitSlots: createSemaphore(2),
    ids: {} as never,
    now: () => 0,
    commit: () => Promise.resolve(COMMITTED),
    recover: () => Promise.resolve('unwritten'),
    onCommitted: () => undefined,
    onLost: () => undefined,
    enter: () => undefined,
    wait: () => undefined,
    onDone: () => undefined,
    logger: createLogger({ service: 'test', level: 'silent' }),
    ...some,
  });
}

it('a deployment that was read again during its commit is forgotten after it, others are not', async () => {
  const [stays, replaced] = [stateOf(1), stateOf(2)];
  const current = new Set([stays, replaced]);
  const forget = vi.fn();
  const through = new Promise<void>((resolve) => {
    const add = batches({
      states: {
        isCurrent: (state: DeploymentState) => current.has(state),
        forget,
        trim: () => undefined,
      } as never,
      // Its partition was lost and held again.
      commit: async () => (current.delete(replaced) ? COMMITTED : REFUSED),
      onDone: () => resolve(),
    });
    for (const state of [stays, replaced]) add(itemFor(state));
  });
  await through;
  expect(forget.mock.calls).toEqual([[2]]);
});

it('a commit begins only when a slot is free, and takes one as soon as it is released', async () => {
  const begun: (() => void)[] = [];
  const commit: Dependencies['commit'] = () => new Promise((resolve) => begun.push(() => resolve(COMMITTED)));
  const add = batches({ commitSlots: createSemaphore(2), commit });
  for (let round = 0; round < 4; round += 1) {
    for (let count = 0; count < 8; count += 1) add(itemFor(stateOf(round * 8 + count)));
    // What was added in one turn of the event loop has been looked at before this one's end.
    await setImmediate();
  }
  expect(begun).toHaveLength(2);
  begun[0]?.();
  await vi.waitFor(() => expect(begun).toHaveLength(3));
  for (const end of begun) end();
});
