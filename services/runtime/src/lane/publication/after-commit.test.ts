import { expect, it, vi } from 'vitest';
import { newBatch, newTimerWrites } from '../../store/commit/batch.js';
import { createAfterCommit } from './publication.js';

function setUp() {
  const calls = { committed: vi.fn(), dropLost: vi.fn(), wakeLeases: vi.fn(), timersChanged: vi.fn() };
  const { committed, dropLost, wakeLeases, timersChanged } = calls;
  const after = createAfterCommit({
    publication: { committed },
    held: { dropLost },
    wakeLeases,
    timersChanged,
  });
  return { after, ...calls };
}

it('publishes a committed batch', () => {
  const { after, committed, dropLost } = setUp();
  const batch = newBatch();
  after.onCommitted(batch);
  expect(committed).toHaveBeenCalledExactlyOnceWith(batch);
  expect(dropLost).not.toHaveBeenCalled();
});

it('tells of timers that a batch has set, taken or given back, and of no other batch', () => {
  const { after, timersChanged } = setUp();
  after.onCommitted(newBatch());
  expect(timersChanged).not.toHaveBeenCalled();
  const batch = newBatch();
  batch.timers.set(1, newTimerWrites(1));
  after.onCommitted(batch);
  expect(timersChanged).toHaveBeenCalledExactlyOnceWith(batch);
});

it('drops leases that a commit found lost, and reads the leases again', () => {
  const { after, committed, dropLost, wakeLeases } = setUp();
  const lost = [{ partition: 3, epoch: 5 }];
  after.onLost(lost);
  expect(dropLost).toHaveBeenCalledExactlyOnceWith(lost);
  expect(wakeLeases).toHaveBeenCalledOnce();
  expect(committed).not.toHaveBeenCalled();
});
