import { ServiceError } from '@orrery/contracts';
import { createLogger } from '@orrery/service-kit';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { StorageWatch } from './storage-watch.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const full = Object.assign(new Error('No space left on device'), { code: '53100' });
const refused = new ServiceError('storage_full');

function watch() {
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  const probe = vi.fn(async (): Promise<unknown> => undefined);
  return { storage: new StorageWatch(probe, logger), probe, lines };
}

it('is not full, and says nothing, while only the databases of others are', async () => {
  const { storage, probe, lines } = watch();
  storage.suspect(new ServiceError('unavailable'));
  expect(probe).not.toHaveBeenCalled();
  for (let elapsed = 0; elapsed < 1000; elapsed += 10) {
    storage.suspect(refused);
    await vi.advanceTimersByTimeAsync(10);
    expect(storage.isFull).toBe(false);
  }
  expect(probe.mock.calls.length).toBeLessThanOrEqual(3);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(probe.mock.calls.length).toBeLessThanOrEqual(3);
  expect(lines).toEqual([]);
});

it('tries one write at a time', async () => {
  const { storage, probe } = watch();
  const { promise, resolve } = Promise.withResolvers<void>();
  probe.mockReturnValueOnce(promise);
  storage.suspect(refused);
  storage.suspect(refused);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(probe).toHaveBeenCalledTimes(1);
  resolve();
  // What was refused meanwhile may have come after the disk was full.
  await vi.advanceTimersByTimeAsync(500);
  expect(probe).toHaveBeenCalledTimes(2);
});

it('is full as soon as its own write is refused, also one after another that was not', async () => {
  const { storage, probe, lines } = watch();
  storage.suspect(refused);
  await vi.advanceTimersByTimeAsync(10);
  probe.mockRejectedValue(full);
  storage.suspect(refused);
  await vi.advanceTimersByTimeAsync(500);
  expect(storage.isFull).toBe(true);
  probe.mockResolvedValue(undefined);
  await vi.advanceTimersByTimeAsync(500);
  expect(storage.isFull).toBe(false);
  expect(lines).toHaveLength(2);
});

it('does not take a write that began before the disk was full for space', async () => {
  const { storage, probe } = watch();
  const { promise, resolve } = Promise.withResolvers<void>();
  probe.mockReturnValueOnce(promise).mockRejectedValue(full);
  storage.suspect(refused);
  storage.note(full);
  resolve();
  await vi.advanceTimersByTimeAsync(2000);
  expect(storage.isFull).toBe(true);
});
