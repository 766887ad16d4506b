import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLogger } from '../logging/logger.js';
import type { Clock } from './clock.js';
import { type PollOutcome, startPollLoop } from './repeat.js';

/** Sleeps end only when the test says so, or when they are aborted. */
function manualClock() {
  const slept: number[] = [];
  let end: (() => void) | undefined;
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        slept.push(ms);
        end = resolve;
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  };
  return { clock, slept, endSleep: () => end?.() };
}

function loopOf(
  run: (runs: number, signal: AbortSignal) => PollOutcome | Promise<PollOutcome>,
  options: { startsIdle?: boolean } = {},
) {
  const time = manualClock();
  const lines: string[] = [];
  const state = { runs: 0, active: 0, mostActive: 0 };
  const loop = startPollLoop({
    ...options,
    name: 'test',
    intervalMs: 1000,
    clock: time.clock,
    logger: createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } }),
    random: () => 1,
    runOnce: async (signal) => {
      state.runs += 1;
      state.active += 1;
      state.mostActive = Math.max(state.mostActive, state.active);
      try {
        return await run(state.runs, signal);
      } finally {
        state.active -= 1;
      }
    },
  });
  onTestFinished(() => loop.stop());
  return { loop, state, lines, ...time };
}

describe('startPollLoop', () => {
  it('runs at once while there is more, then pauses for the interval', async () => {
    const { state, slept, endSleep } = loopOf((runs) => (runs < 3 ? 'more' : 'idle'));
    await vi.waitFor(() => expect(slept).toEqual([1000]));
    expect(state.runs).toBe(3);
    endSleep();
    await vi.waitFor(() => expect(state.runs).toBe(4));
  });

  it('pauses before its first run where it is told to, and may be stopped meanwhile', async () => {
    const { loop, state, slept, endSleep } = loopOf(() => 'idle', { startsIdle: true });
    await vi.waitFor(() => expect(slept).toEqual([1000]));
    expect(state.runs).toBe(0);
    endSleep();
    await vi.waitFor(() => expect(slept).toEqual([1000, 1000]));
    expect(state.runs).toBe(1);
    const unused = loopOf(() => 'idle', { startsIdle: true });
    await unused.loop.stop();
    expect(unused.state.runs).toBe(0);
    await loop.stop();
  });

  it('ends a pause when woken', async () => {
    const { loop, state, slept } = loopOf(() => 'idle');
    await vi.waitFor(() => expect(slept).toHaveLength(1));
    loop.wake();
    await vi.waitFor(() => expect(state.runs).toBe(2));
  });

  it('runs again for a wake-up that came during a run', async () => {
    const { loop, state, slept } = loopOf((runs) => {
      if (runs === 1) loop.wake();
      return 'idle';
    });
    await vi.waitFor(() => expect(slept).toHaveLength(1));
    expect(state.runs).toBe(2);
  });

  it('lets a run listen to its signal as often as it makes calls, without a warning', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => warnings.push(name);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const { loop } = loopOf((_runs, signal) => {
      for (let calls = 0; calls < 20; calls += 1) signal.addEventListener('abort', () => undefined);
      return 'idle';
    });
    await loop.runOnce();
    // Node tells warnings in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  it('logs a failure and pauses longer each time, also when woken', async () => {
    const { loop, lines, slept, endSleep, state } = loopOf(() => Promise.reject(new Error('no database')));
    for (const pauses of [1, 2, 3, 4, 5]) {
      await vi.waitFor(() => expect(slept).toHaveLength(pauses));
      loop.wake();
      expect(state.runs).toBe(pauses);
      endSleep();
    }
    await vi.waitFor(() => expect(slept).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]));
    expect(lines[0]).toContain('no database');
  });

  it('never overlaps runs, and runOnce answers with its own outcome', async () => {
    const gates: (() => void)[] = [];
    const { loop, state } = loopOf(() => new Promise((resolve) => gates.push(() => resolve('idle'))));
    const asked = [loop.runOnce(), loop.runOnce()];
    for (const run of [1, 2, 3]) {
      await vi.waitFor(() => expect(state.runs).toBe(run));
      gates[run - 1]?.();
    }
    expect(await Promise.all(asked)).toEqual(['idle', 'idle']);
    expect(state.mostActive).toBe(1);
  });

  it('hands a failure of runOnce to its caller', async () => {
    const { loop, slept } = loopOf((runs) => (runs === 1 ? 'idle' : Promise.reject(new Error('second'))));
    await vi.waitFor(() => expect(slept).toHaveLength(1));
    await expect(loop.runOnce()).rejects.toThrow('second');
  });

  it('aborts the run under way and waits for it to end when stopped', async () => {
    let cleanedUp = false;
    const { loop, state } = loopOf(async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await Promise.resolve();
      cleanedUp = true;
      return 'more' as const;
    });
    await vi.waitFor(() => expect(state.runs).toBe(1));
    await loop.stop();
    expect(cleanedUp).toBe(true);
    expect(state.runs).toBe(1);
  });
});
