import { expect, it, vi } from 'vitest';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import { createResidentStates } from './resident-states.js';

const LIMITS = { maxBytes: 1000, maxDeployments: 2 };
const held = { epochOf: () => 1 };

/** Reads that the test ends one by one, each with a state of its own. */
function slowReads(bytesOfKeys = 0) {
  const reads: (() => void)[] = [];
  const read = (id: number, epoch: number) =>
    new Promise<DeploymentState>((resolve) => {
      const number = reads.length;
      const keys = { bytes: () => bytesOfKeys };
      const state = { id, epoch, partition: 0, number, instances: { bytes: () => 1, drop: vi.fn() }, keys };
      reads.push(() => resolve(state as unknown as DeploymentState));
    });
  return { read, reads };
}

it('reads a state again that was forgotten while it was read, for all callers that wait', async () => {
  const { read, reads } = slowReads();
  const states = createResidentStates(read, held, LIMITS);
  const early = states.get(7);
  states.forget(7);
  const late = states.get(7);
  reads[0]?.();
  reads[1]?.();
  const [one, other] = await Promise.all([early, late]);
  expect(one).toBe(other);
  expect(one).toMatchObject({ number: 1 });
  expect(one && states.isCurrent(one)).toBe(true);
  expect(reads).toHaveLength(2);
});

it('memory is trimmed of what was used longest ago, but for what is needed', async () => {
  const { read, reads } = slowReads();
  const states = createResidentStates(read, held, LIMITS);
  const all = await Promise.all(
    [1, 2, 3, 4].map((id) => {
      const state = states.get(id);
      reads.at(-1)?.();
      return state;
    }),
  );
  states.trim(new Set([1]));
  const kept = all.filter((state) => state !== undefined && states.isCurrent(state));
  expect(kept.map((state) => state?.id)).toEqual([1, 4]);
  const dropped = all.filter((state) => vi.mocked(state?.instances.drop)?.mock.calls.length);
  expect(dropped.map((state) => state?.id)).toEqual([2, 3]);
});

it('answers count as memory', async () => {
  const { read, reads } = slowReads(600);
  const states = createResidentStates(read, held, LIMITS);
  for (const id of [1, 2]) {
    const state = states.get(id);
    reads.at(-1)?.();
    await state;
  }
  states.trim(new Set());
  expect([1, 2].map((id) => states.peek(id)?.id)).toEqual([undefined, 2]);
});

it('memory is to be trimmed once an eighth of its bound was loaded', () => {
  const states = createResidentStates(slowReads().read, held, LIMITS);
  states.grew(125);
  states.grew(-1000);
  expect(states.hasGrown()).toBe(false);
  states.grew(1);
  expect(states.hasGrown()).toBe(true);
  states.trim(new Set());
  expect(states.hasGrown()).toBe(false);
});
