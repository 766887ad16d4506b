import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '@orrery/contracts';
import type { Logger } from '../logging/logger.js';
import type { Clock } from './clock.js';

/** `more`: there is work left, run again at once. `idle`: wait for the interval or a wake-up. */
export type PollOutcome = 'more' | 'idle';

interface PollLoopOptions {
  readonly name: string;
  /** Pause after an idle run, in milliseconds. */
  readonly intervalMs: number;
  /** The part of that pause that no wake-up shortens, in milliseconds; the wake-up counts after it. Default 0. */
  readonly restMs?: number;
  /** The first run comes after a pause as well: for what calls a service that may be starting beside this one. */
  readonly startsIdle?: boolean;
  /** One run. Without an outcome it is `idle`. */
  readonly runOnce: (signal: AbortSignal) => Promise<PollOutcome> | Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the loop, like `stop()`. */
  readonly signal?: AbortSignal;
  /** Longest pause after failed runs, in milliseconds. Default 10,000. */
  readonly maxBackoffMs?: number;
  readonly random?: () => number;
}

export type PollLoop = ReturnType<typeof startPollLoop>;

/**
 * The one way to do something over and over: never two runs at once, errors are logged and followed by a
 * growing pause, and a wake-up during a run leads to another run.
 *
 *   running ─ more ─→ running          running ─ error ─→ backing off ─ time ─→ running
 *   running ─ idle ─→ pausing ─ interval, or rest and wake ─→ running          any ─ stop ─→ ended
 */
export function startPollLoop(options: PollLoopOptions) {
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, ...(options.signal ? [options.signal] : [])]);
  // One run may make many calls at once, and each listens.
  setMaxListeners(0, signal);
  const pause = createPause(options.clock, signal);
  let lastRun: Promise<unknown> = Promise.resolve();

  /** One run now, after the one under way; rejects with its error. For tests and for orderly draining. */
  const runOnce = () => {
    const run: Promise<unknown> = lastRun.then<unknown>(() => {
      pause.forget();
      return options.runOnce(signal);
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
    if (options.startsIdle) await idle();
    for (let failures = 0; !signal.aborted; ) {
      try {
        const outcome = await runOnce();
        failures = 0;
        await (outcome === 'more' ? nextTurn() : idle());
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        await pause.inFull(reportFailure(options, error, failures));
      }
    }
  };

  const ended = runs();
  /** Aborts the signal of the run under way and resolves when it has ended. */
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
    await lastRun;
  };
  return {
    /** There is work: ends an idle pause. It does not shorten the pause after a failure. */
    wake: pause.wake,
    runOnce,
    stop,
  };
}

/** Logs a failed run and returns the pause that follows it, in milliseconds. */
function reportFailure(options: PollLoopOptions, error: unknown, failures: number): number {
  const { name, intervalMs, maxBackoffMs = 10_000, random, logger } = options;
  const backoff = { baseMs: Math.min(intervalMs, maxBackoffMs), maxMs: maxBackoffMs };
  const pauseMs = Math.round(backoffDelay(failures, backoff, random));
  logger.error({ err: error, loop: name, failures, pauseMs }, 'loop run failed');
  return pauseMs;
}

/** Pauses between runs. They resolve, never reject; once `signal` aborts they all resolve at once. */
function createPause(clock: Clock, signal: AbortSignal) {
  let woken = false;
  let current: AbortController | undefined;
  const sleep = (ms: number, cut: AbortSignal) => clock.sleep(ms, cut).catch(() => undefined);
  return {
    /** Ends a pause early, also when it comes before the pause has begun. */
    wake: () => {
      woken = true;
      current?.abort();
    },
    /** Forgets earlier wake-ups: the run that begins now does their work. */
    forget: () => {
      woken = false;
    },
    untilWoken: async (ms: number) => {
      if (woken) return;
      current = new AbortController();
      await sleep(ms, AbortSignal.any([signal, current.signal]));
      current = undefined;
    },
    /** The whole time: only the signal ends it. */
    inFull: (ms: number) => sleep(ms, signal),
  };
}

export interface Backoff {
  /** Delay before the first repetition, in milliseconds; it doubles from then on. */
  readonly baseMs: number;
  /** No delay is longer than this, in milliseconds. */
  readonly maxMs: number;
}

interface RetryPolicy extends Backoff {
  /** How often the operation is called at most, the first call included. */
  readonly attempts: number;
  /** Whether it makes sense to try again after this error. Default: `isRetryable`. */
  readonly retryable?: (error: unknown) => boolean;
}

interface RetryContext {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly random?: () => number;
  readonly onRetry?: (error: unknown, attempt: number, delayMs: number) => void;
}

/**
 * For the first contact of a start with a server, which may just be starting or be busy: refused connections are tried
 * for 2.5 to 5 s, and each attempt adds its own time. A start that ended sooner would use up what a supervisor allows:
 * systemd gives up after five starts within 10 s.
 */
export const FIRST_CONTACT = { attempts: 6, baseMs: 200, maxMs: 2000 } as const satisfies RetryPolicy;

/** Exponential delay before repetition `attempt` (1, 2, …): between half and the whole of the doubled base. */
export function backoffDelay(
  attempt: number,
  { baseMs, maxMs }: Backoff,
  random: () => number = Math.random,
): number {
  const whole = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return whole / 2 + random() * (whole / 2);
}

/**
 * Calls `operation` until it succeeds, the policy is used up, the error is not retryable or the signal
 * aborts. Rejects with the operation's last error, or with the signal's reason.
 */
export async function retry<T>(
  operation: (attempt: number) => Promise<T>,
  policy: RetryPolicy,
  { clock, signal, random, onRetry }: RetryContext,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await operation(attempt);
    } catch (error) {
      const worthwhile = (policy.retryable ?? isRetryable)(error);
      if (attempt >= policy.attempts || !worthwhile || signal?.aborted) throw error;
      const delayMs = backoffDelay(attempt, policy, random);
      onRetry?.(error, attempt, delayMs);
      await clock.sleep(delayMs, signal);
    }
  }
}

/** The table of error codes decides for a ServiceError; an error from elsewhere may be a passing one. */
export const isRetryable = (error: unknown): boolean => !(error instanceof ServiceError) || error.retryable;
