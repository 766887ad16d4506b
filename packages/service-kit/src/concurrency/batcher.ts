import { ServiceError } from '@orrery/contracts';

/** Loads the result of one request together with those of others. */
export type Batcher<Request, Result> = (request: Request) => Promise<Result>;

export interface BatcherOptions<Request, Result> {
  /** Requests in one call at most. */
  readonly maxBatch: number;
  /** One call for many requests; it returns their results in the order of the requests. */
  readonly load: (requests: readonly Request[]) => Promise<readonly Result[]>;
  /** Requests with equal keys share one result while they wait. By default the request itself is the key. */
  readonly keyOf?: (request: Request) => unknown;
  /** Distinct requests that may wait; further ones are refused with `overloaded`. Unbounded by default. */
  readonly maxWaiting?: number;
  /** Each call waits for this first; requests that arrive meanwhile still share the call. */
  readonly ready?: () => Promise<void> | undefined;
}

interface Waiting<Request, Result> {
  readonly request: Request;
  readonly promise: Promise<Result>;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Answers many requests with few calls. One call is in flight at a time, and requests that arrive meanwhile share the
 * next one. A result is therefore never older than its request. (`dataloader` sends calls side by side and caches.)
 */
export function createBatcher<Request, Result>({
  maxBatch,
  load,
  keyOf = (request) => request,
  maxWaiting = Number.POSITIVE_INFINITY,
  ready = () => undefined,
}: BatcherOptions<Request, Result>): Batcher<Request, Result> {
  let waiting = new Map<unknown, Waiting<Request, Result>>();
  let loading = false;

  const loadAll = async () => {
    while (waiting.size > 0) {
      await ready();
      await settle(takeSome(), load);
    }
    loading = false;
  };
  // The rest goes into a new map: one that requests enter and leave all the time would keep them alive (`Slots`).
  const takeSome = () => {
    const all = [...waiting];
    waiting = new Map(all.slice(maxBatch));
    return all.slice(0, maxBatch).map(([, one]) => one);
  };
  return (request) => {
    const key = keyOf(request);
    const equal = waiting.get(key);
    if (equal !== undefined) return equal.promise;
    if (waiting.size >= maxWaiting) return Promise.reject(new ServiceError('overloaded'));
    const one = waitingFor<Request, Result>(request);
    waiting.set(key, one);
    if (!loading) {
      loading = true;
      // Requests of the same turn of the event loop share the call.
      setImmediate(() => void loadAll());
    }
    return one.promise;
  };
}

async function settle<Request, Result>(
  batch: readonly Waiting<Request, Result>[],
  load: BatcherOptions<Request, Result>['load'],
): Promise<void> {
  try {
    const results = await load(batch.map(({ request }) => request));
    // `load` returns a result for every request, in order.
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

function waitingFor<Request, Result>(request: Request): Waiting<Request, Result> {
  let resolve: (result: Result) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<Result>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { request, promise, resolve, reject };
}
