import type { Clock } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';

/**
 * How a call ended that passed a circuit: the server answered, be it with a refusal; or it could not be reached, failed
 * or took too long; or the call was given up, which says nothing of the server.
 */
export type Passed = 'answered' | 'failed' | 'cancelled';

/** A call that passed, which is to say how it ended; or in how many milliseconds one may pass again. */
type Entered = ((passed: Passed) => void) | { readonly openForMs: number };

/** Failures in a row that open a circuit. */
export const FAILURES_TO_OPEN = 5;
/** Failures within so many milliseconds count as one: one fault of a server ends many calls at once. */
export const FAILURE_INTERVAL_MS = 1000;
/** How long an open circuit lets no call pass, in milliseconds. */
export const OPEN_MS = 15_000;

/**
 * Keeps calls from a server that fails:
 *
 *   closed     all calls pass; 5 failures in a row, each at least 1 s after the one before → open
 *   open       no call passes for 15 s, then → half-open
 *   half-open  one call passes each 15 s until one of them is answered → closed; or fails → open
 *
 * A failure that comes while it is open, of a call that passed before, says nothing new.
 */
export class CircuitBreaker {
  #failures = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  /** Where it is not closed: until when no call passes. */
  #shutUntil = 0;

  /** `onOpen` is told until when no call passes, or a probe is out. */
  constructor(
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly onOpen: (until: number) => void = () => undefined,
  ) {}

  enter(): Entered {
    if (this.#isClosed) return (passed) => this.#ended(passed);
    const now = this.clock.monotonic();
    if (now < this.#shutUntil) return { openForMs: this.#shutUntil - now };
    return this.#probe(now);
  }

  /** A call that takes long keeps the next one out no longer than an open circuit does. */
  #probe(now: number): (passed: Passed) => void {
    const until = now + OPEN_MS;
    this.#shut(until);
    return (passed) => {
      if (passed === 'failed' && !this.#isClosed) this.#shut(this.clock.monotonic() + OPEN_MS);
      else if (passed !== 'cancelled') this.#ended(passed);
      else if (this.#shutUntil === until) this.#shut(now);
    };
  }

  get #isClosed(): boolean {
    return this.#failures < FAILURES_TO_OPEN;
  }

  #shut(until: number): void {
    this.#shutUntil = until;
    this.onOpen(until);
  }

  #ended(passed: Passed): void {
    if (passed === 'answered') {
      this.#failures = 0;
      this.#countedAt = Number.NEGATIVE_INFINITY;
    }
    const now = this.clock.monotonic();
    if (passed !== 'failed' || !this.#isClosed || now - this.#countedAt < FAILURE_INTERVAL_MS) return;
    this.#countedAt = now;
    this.#failures += 1;
    if (!this.#isClosed) this.#shut(now + OPEN_MS);
  }
}

/** Deployments whose failures are remembered. */
const MAX_KNOWN = 10_000;
/** With open circuits of so many accounts a server is left alone by all. */
const ACCOUNTS = 2;

interface Caller {
  /** Of the server. */
  readonly baseUrl: string;
  /** The address of the deployment that asks. */
  readonly deployment: string;
  readonly accountId: number;
}

/**
 * The circuits of all servers. Calls may fail by what one tenant asks for, such as a form that takes a server too long, so
 * each deployment has a circuit of its own with each server. A server is left alone by all while circuits of two accounts
 * are open and it has answered nobody since.
 */
export class Circuits {
  /** By server and deployment. */
  readonly #own = new LRUCache<string, CircuitBreaker>({ max: MAX_KNOWN });
  /** By server and account: until when a circuit is open. */
  readonly #open = new Map<string, Map<number, number>>();

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  enter(caller: Caller): Entered {
    const openForMs = this.#openForMs(caller.baseUrl);
    if (openForMs > 0) return { openForMs };
    const end = this.#breakerOf(caller).enter();
    if (typeof end !== 'function') return end;
    return (passed) => {
      if (passed === 'answered') this.#open.delete(caller.baseUrl);
      end(passed);
    };
  }

  #openForMs(baseUrl: string): number {
    const untils = [...(this.#open.get(baseUrl)?.values() ?? [])].sort((a, b) => b - a);
    return (untils[ACCOUNTS - 1] ?? 0) - this.clock.monotonic();
  }

  #breakerOf({ baseUrl, deployment, accountId }: Caller): CircuitBreaker {
    const name = `${deployment} ${baseUrl}`;
    const note = (until: number) => {
      const ofServer = this.#open.get(baseUrl) ?? new Map<number, number>();
      this.#open.set(baseUrl, ofServer.set(accountId, until));
    };
    const breaker = this.#own.get(name) ?? new CircuitBreaker(this.clock, note);
    this.#own.set(name, breaker);
    return breaker;
  }
}
