import { ServiceError } from '@orrery/contracts';

/** Answers many askers with few queries: while one batch is loading, the next one collects. */
export interface BatchLoader<T> {
  load(id: string): Promise<T | undefined>;
}

export interface BatchLimits {
  /** Ids in one batch. */
  batch: number;
  /** Distinct ids that may wait; beyond it the answer is `overloaded`. */
  waiting: number;
}

interface Waiting<T> {
  promise: Promise<T | undefined>;
  resolve: (value: T | undefined) => void;
  reject: (reason: unknown) => void;
}

export function createBatchLoader<T>(
  loadMany: (ids: string[]) => Promise<Map<string, T>>,
  limits: BatchLimits,
): BatchLoader<T> {
  const waiting = new Map<string, Waiting<T>>();
  let loading = false;

  const loadWaiting = async () => {
    loading = true;
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, limits.batch);
      for (const [id] of batch) waiting.delete(id);
      await answerBatch(batch, loadMany);
    }
    loading = false;
  };

  return {
    load: (id) => {
      const known = waiting.get(id);
      if (known !== undefined) return known.promise;
      if (waiting.size >= limits.waiting) return Promise.reject(new ServiceError('overloaded'));
      const one = deferred<T | undefined>();
      waiting.set(id, one);
      // Starts in a microtask, so that askers of the same turn share the first batch.
      if (!loading) queueMicrotask(() => void (loading || loadWaiting()));
      return one.promise;
    },
  };
}

async function answerBatch<T>(
  batch: [string, Waiting<T>][],
  loadMany: (ids: string[]) => Promise<Map<string, T>>,
): Promise<void> {
  try {
    const found = await loadMany(batch.map(([id]) => id));
    for (const [id, one] of batch) one.resolve(found.get(id));
  } catch (error) {
    for (const [, one] of batch) one.reject(error);
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
