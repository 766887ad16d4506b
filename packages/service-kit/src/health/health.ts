import type { Clock } from '../timing/clock.js';

export type HealthStatus = 'ok' | 'degraded' | 'unavailable';

/** `detail` is shown to anyone who asks: no address, no secret, no error text of a library. */
export interface CheckResult {
  readonly status: HealthStatus;
  readonly detail?: string;
}

export type HealthCheck = () => CheckResult | Promise<CheckResult>;

export interface Readiness {
  /** The worst of the checks. Only `unavailable` means: send no requests here. */
  readonly status: HealthStatus;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

export interface Health {
  /** Adds a named check and returns how to take it away again. */
  register(name: string, check: HealthCheck): () => void;
  /** The process runs and its event loop turns: being able to ask is the answer. */
  liveness(): { readonly status: 'ok' };
  /** Runs all checks at once. Callers that come meanwhile share the same run. */
  readiness(): Promise<Readiness>;
}

export interface HealthOptions {
  readonly clock: Clock;
  /** A check that takes longer counts as unavailable, in milliseconds. Default 1,000. */
  readonly timeoutMs?: number;
}

/** The registry of a process's checks; each service registers what it cannot work without. */
export function createHealth({ clock, timeoutMs = 1000 }: HealthOptions): Health {
  const checks = new Map<string, HealthCheck>();
  let underWay: Promise<Readiness> | undefined;

  const runAll = async () => {
    const named = [...checks].map(
      async ([name, check]) => [name, await answer(check, clock, timeoutMs)] as const,
    );
    const results = await Promise.all(named);
    return { status: worstOf(results.map(([, { status }]) => status)), checks: Object.fromEntries(results) };
  };

  return {
    register: (name, check) => {
      if (checks.has(name)) throw new Error(`a health check named ${name} exists already`);
      checks.set(name, check);
      return () => checks.delete(name);
    },
    liveness: () => ({ status: 'ok' }),
    readiness: () => {
      underWay ??= runAll().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
  };
}

async function answer(check: HealthCheck, clock: Clock, timeoutMs: number): Promise<CheckResult> {
  const answered = new AbortController();
  const late = clock
    .sleep(timeoutMs, answered.signal)
    .then((): CheckResult => ({ status: 'unavailable', detail: `no answer within ${timeoutMs} ms` }));
  const failed = (): CheckResult => ({ status: 'unavailable', detail: 'the check failed' });
  try {
    return await Promise.race([Promise.resolve().then(check).catch(failed), late]);
  } finally {
    late.catch(() => undefined);
    answered.abort();
  }
}

function worstOf(statuses: readonly HealthStatus[]): HealthStatus {
  if (statuses.includes('unavailable')) return 'unavailable';
  return statuses.includes('degraded') ? 'degraded' : 'ok';
}
