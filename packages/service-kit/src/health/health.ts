import { answerInTime } from '../timing/answer-in-time.js';
import type { Clock } from '../timing/clock.js';

export type HealthStatus = 'ok' | 'degraded' | 'unavailable';

/** `detail` is shown to anyone who asks: no address, no secret, no error text of a library. */
export interface CheckResult {
  readonly status: HealthStatus;
  readonly detail?: string;
}

export type HealthCheck = () => CheckResult | Promise<CheckResult>;

export type CheckResults = Readonly<Record<string, CheckResult>>;

export interface Readiness {
  /** The worst of the checks. Only `unavailable` means: send no requests here. */
  readonly status: HealthStatus;
  readonly checks: CheckResults;
}

export interface Health {
  /** Adds a named check and returns how to take it away again. */
  register(name: string, check: HealthCheck): () => void;
  /**
   * Adds what another registry of the process finds, and returns how to take it away again. Where `checks` fails or is
   * late, that is what `name` says.
   */
  include(name: string, checks: () => Promise<CheckResults>): () => void;
  /** What the registered checks say, without those included. */
  ownChecks(): Promise<CheckResults>;
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
  const included = new Map<string, () => Promise<CheckResults>>();
  let underWay: Promise<Readiness> | undefined;

  const ownChecks = async (): Promise<CheckResults> => {
    const run = (check: HealthCheck) => answer(check, itself, clock, timeoutMs);
    const named = [...checks].map(async ([name, check]) => [name, await run(check)] as const);
    return Object.fromEntries(await Promise.all(named));
  };
  const runAll = async (): Promise<Readiness> => {
    const others = [...included].map(([name, ask]) =>
      // The others' own checks may be late first.
      answer(ask, (result) => ({ [name]: result }), clock, 1.5 * timeoutMs),
    );
    const results: CheckResults = Object.assign({}, ...(await Promise.all([ownChecks(), ...others])));
    return { status: worstOf(Object.values(results).map(({ status }) => status)), checks: results };
  };

  return {
    register: (name, check) => addTo(checks, name, check),
    include: (name, ask) => addTo(included, name, ask),
    ownChecks,
    liveness: () => ({ status: 'ok' }),
    readiness: () => {
      underWay ??= runAll().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
  };
}

const itself = (result: CheckResult): CheckResult => result;

function addTo<T>(named: Map<string, T>, name: string, one: T): () => void {
  if (named.has(name)) throw new Error(`a health check named ${name} exists already`);
  named.set(name, one);
  return () => named.delete(name);
}

/** A check that does not answer is an answer too. */
const answer = <T>(
  ask: () => T | Promise<T>,
  instead: (result: CheckResult) => T,
  clock: Clock,
  timeoutMs: number,
): Promise<T> =>
  answerInTime(ask, {
    clock,
    timeoutMs,
    late: () => instead({ status: 'unavailable', detail: `no answer within ${timeoutMs} ms` }),
    failed: () => instead({ status: 'unavailable', detail: 'the check failed' }),
  });

function worstOf(statuses: readonly HealthStatus[]): HealthStatus {
  if (statuses.includes('unavailable')) return 'unavailable';
  return statuses.includes('degraded') ? 'degraded' : 'ok';
}
