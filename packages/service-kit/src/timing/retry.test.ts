import { ServiceError } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import type { Clock } from './clock.js';
import { backoffDelay, isRetryable, retry } from './repeat.js';

const policy = { attempts: 4, baseMs: 100, maxMs: 300 };

function recordingClock() {
  const slept: number[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
    },
  };
  return { clock, slept };
}

const failing = (times: number) => async (attempt: number) => {
  if (attempt <= times) throw new Error(`attempt ${attempt}`);
  return attempt;
};

describe('retry', () => {
  it('repeats with growing, bounded delays until it succeeds', async () => {
    const { clock, slept } = recordingClock();
    expect(await retry(failing(3), policy, { clock, random: () => 1 })).toBe(4);
    expect(slept).toEqual([100, 200, 300]);
  });

  it('rejects with the last error when the attempts are used up', async () => {
    await expect(retry(failing(9), policy, recordingClock())).rejects.toThrow('attempt 4');
  });

  it('does not repeat what is not retryable', async () => {
    const { clock, slept } = recordingClock();
    await expect(retry(failing(9), { ...policy, retryable: () => false }, { clock })).rejects.toThrow(
      'attempt 1',
    );
    expect(slept).toEqual([]);
  });

  it('ends when the signal aborts', async () => {
    const stop = new AbortController();
    const onRetry = () => stop.abort();
    const { clock } = recordingClock();
    await expect(retry(failing(9), policy, { clock, signal: stop.signal, onRetry })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('spreads delays between half and whole', () => {
    expect(backoffDelay(2, policy, () => 0)).toBe(100);
    expect(backoffDelay(2, policy, () => 1)).toBe(200);
    expect(backoffDelay(5000, policy, () => 1)).toBe(300);
  });

  it('leaves the decision to the table of error codes unless told otherwise', () => {
    expect(isRetryable(new ServiceError('world_not_found'))).toBe(false);
    expect(isRetryable(new ServiceError('unavailable'))).toBe(true);
    expect(isRetryable(new Error('socket hang up'))).toBe(true);
  });
});
