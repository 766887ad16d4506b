import { expect, it, vi } from 'vitest';
import { newBatch } from '../../store/commit/batch.js';
import { createAfterCommit } from './publication.js';

function setUp() {
  const calls = { committed: vi.fn(), dropLost: vi.fn(), wakeLeases: vi.fn() };
  const { committed, dropLost, wakeLeases } = calls;
  const after = createAfterCommit({ publication: { committed }, held: { dropLost }, wakeLeases });
  return { after, ...calls };
}

it('publishes a committed batch', () => {
  const { after, committed, dropLost } = setUp();
  const batch = newBatch();
  after.onCommitted(batch);
  expect(committed).toHaveBeenCalledExactlyOnceWith(batch);
  expect(dropLost).not.toHaveBeenCalled();
});

it('drops leases that a commit found lost, and reads the leases again', () => {
  const { after, committed, dropLost, wakeLeases } = setUp();
  const lost = [{ partition: 3, epoch: 5 }];
  after.onLost(lost);
  expect(dropLost).toHaveBeenCalledExactlyOnceWith(lost);
  expect(wakeLeases).toHaveBeenCalledOnce();
  expect(committed).not.toHaveBeenCalled();
});
