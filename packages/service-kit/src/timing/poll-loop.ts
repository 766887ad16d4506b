import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../logging/create-logger.js';
import type { Clock } from './clock.js';
import { backoffDelay } from './retry.js';

/** `more`: there is work left, run again at once. `idle`: wait for the interval or a wake-up. */
export type PollOutcome = 'more' | 'idle';

export interface PollLoopOptions {
  readonly name: string;
  /** Pause after an idle run, in milliseconds. */
  readonly intervalMs: number;
  /** The part of that pause that no wake-up shortens, in milliseconds; the wake-up counts after it. Default 0. */
  readonly restMs?: number;
  readonly runOnce: (signal: AbortSignal) => Promise<PollOutcome>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the loop, like `stop()`. */
  readonly signal?: AbortSignal;
  /** Longest pause after failed runs, in milliseconds. Default 10,000. */
  readonly maxBackoffMs?: number;
  readonly random?: () => number;
}

export interface PollLoop {
  /** There is work: ends an idle pause. It does not shorten the pause after a failure. */
  wake(): void;
  /** One run now, after the one under way; rejects with its error. For tests and for orderly draining. */
  runOnce(): Promise<PollOutcome>;
  /** Aborts the signal of the run under way and resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * The one way to do something over and over: never two runs at once, errors are logged and followed by a
 * growing pause, and a wake-up during a run leads to another run.
 *
 *   running ─ more ─→ running          running ─ error ─→ backing off ─ time ─→ running
 *   running ─ idle ─→ pausing ─ interval, or rest and wake ─→ running          any ─ stop ─→ ended
 */
export function startPollLoop(options: PollLoopOptions): PollLoop {
  const stopping = new AbortController();
  // One run may make many calls at once, and each listens.
  setMaxListeners(0, stopping.signal);
  const pause = createPause(options.clock, stopping.signal);
  let lastRun: Promise<unknown> = Promise.resolve();

  const runOnce = () => {
    const run = lastRun.then(() => {
      pause.forget();
      return options.runOnce(stopping.signal);
    });
    lastRun = run.catch(() => undefined);
    return run;
  };
  const idle = async () => {
    const { intervalMs, restMs = 0 } = options;
    if (restMs > 0) await pause.inFull(restMs);
    await pause.untilWoken(Math.max(0, intervalMs - restMs));
  };
  const runs = async () => {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        const outcome = await runOnce();
        failures = 0;
        await (outcome === 'more' ? nextTurn() : idle());
      } catch (error) {
        if (stopping.signal.aborted) return;
        failures += 1;
        await pause.inFull(reportFailure(options, error, failures));
      }
    }
  };

  const abort = () => stopping.abort();
  if (options.signal?.aborted) abort();
  options.signal?.addEventListener('abort', abort, { once: true });
  const ended = runs();

  const stop = async () => {
    options.signal?.removeEventListener('abort', abort);
    abort();
    await ended;
    await lastRun;
  };
  return { wake: pause.wake, runOnce, stop };
}

/** Logs a failed run and returns the pause that follows it, in milliseconds. */
function reportFailure(options: PollLoopOptions, error: unknown, failures: number): number {
  const { name, intervalMs, maxBackoffMs = 10_000, random, logger } = options;
  const backoff = { baseMs: Math.min(intervalMs, maxBackoffMs), maxMs: maxBackoffMs };
  const pauseMs = Math.round(backoffDelay(failures, backoff, random));
  logger.error({ err: error, loop: name, failures, pauseMs }, 'loop run failed');
  return pauseMs;
}

/** A pause between runs. `wake()` ends it early, also when it comes before the pause has begun. */
interface Pause {
  wake(): void;
  /** Forgets earlier wake-ups: the run that begins now does their work. */
  forget(): void;
  untilWoken(ms: number): Promise<void>;
  /** The whole time: only the signal ends it. */
  inFull(ms: number): Promise<void>;
}

/** Pauses resolve, never reject; once `signal` aborts they all resolve at once. */
function createPause(clock: Clock, signal: AbortSignal): Pause {
  let woken = false;
  let current: AbortController | undefined;

  const sleep = async (ms: number, cut: AbortController) => {
    if (signal.aborted) return;
    const end = () => cut.abort();
    signal.addEventListener('abort', end, { once: true });
    await clock.sleep(ms, cut.signal).catch(() => undefined);
    signal.removeEventListener('abort', end);
  };

  return {
    wake: () => {
      woken = true;
      current?.abort();
    },
    forget: () => {
      woken = false;
    },
    untilWoken: async (ms) => {
      if (woken) return;
      current = new AbortController();
      await sleep(ms, current);
      current = undefined;
    },
    inFull: (ms) => sleep(ms, new AbortController()),
  };
}
