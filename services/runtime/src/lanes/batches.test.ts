import { createLogger } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { createBatches } from './batches.js';
import { createCommitPlaces } from './commit-places.js';
import type { DeploymentState } from './deployment-state.js';
import type { QueuedItem } from './queued-item.js';

const stateOf = (id: number) =>
  ({ id, partition: id, epoch: 1, row: { deleted_at: null }, runs: new Map() }) as unknown as DeploymentState;

/** An item that decides on a step of a run, the least that is committed. */
function itemFor(state: DeploymentState): QueuedItem {
  const run = { id: 'run', open: null, write: { update: {} } };
  const item = {
    deploymentId: state.id,
    deadline: Number.POSITIVE_INFINITY,
    signal: { aborted: false },
    decide: () => ({ kind: 'record', run, settlement: { reply: 'done' } }),
  };
  const rest = { state, needs: undefined, alone: false, rounds: 1, reject: vi.fn(), resolve: vi.fn() };
  return { item, ...rest } as unknown as QueuedItem;
}

it('a deployment that was read anew during its commit is forgotten after it, others are not', async () => {
  const [stays, replaced] = [stateOf(1), stateOf(2)];
  const current = new Set([stays, replaced]);
  const forget = vi.fn();
  const through = new Promise<void>((resolve) => {
    const add = createBatches({
      states: {
        isCurrent: (state: DeploymentState) => current.has(state),
        forget,
        trim: () => undefined,
      } as never,
      places: createCommitPlaces(2),
      ids: {} as never,
      now: () => 0,
      // Its partition was lost and held again.
      commit: async () => (current.delete(replaced) ? 'committed' : 'lost'),
      recover: () => Promise.resolve(false),
      onCommitted: () => undefined,
      onLost: () => undefined,
      enter: () => undefined,
      park: () => undefined,
      onThrough: () => resolve(),
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    for (const state of [stays, replaced]) add(itemFor(state));
  });
  await through;
  expect(forget.mock.calls).toEqual([[2]]);
});
