import type { Clock } from './clock.js';

/** A pause between runs. `wake()` ends it early, also when it comes before the pause has begun. */
export interface Pause {
  wake(): void;
  /** Forgets wake-ups that came before now: what they announced is about to be done. */
  forget(): void;
  untilWoken(ms: number): Promise<void>;
  /** The whole time, whoever wakes; only the signal ends it. */
  inFull(ms: number): Promise<void>;
}

/** Pauses resolve, never reject; once `signal` aborts they all resolve at once. */
export function createPause(clock: Clock, signal: AbortSignal): Pause {
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
