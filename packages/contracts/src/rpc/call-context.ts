import { z } from 'zod';

/** What a handler knows about the call it answers. */
export interface CallContext {
  caller: Caller;
  requestId: string;
  /** Names the client's request alone, unlike `requestId`, which clients may choose; only executions have one. */
  callId?: string | undefined;
  /** The caller does not wait for a run that an execution becomes: it is told its id, and asks for the answer by itself. */
  leavesRun?: boolean | undefined;
  /** After it the caller waits no longer; in milliseconds, by the monotonic clock of this process. */
  deadline: number;
  /** Aborted when the caller went away, the deadline passed or the service stops. */
  signal: Cancellation;
}

/** What a key may do. */
export const scope = z.enum(['read', 'write', 'execute', 'keys']);
export type Scope = z.infer<typeof scope>;

/** On whose behalf a call is made; it travels in the headers of every call and is set by the gateway alone. */
export const caller = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('account'), accountId: z.int(), scopes: z.array(scope) }),
  z.object({ kind: z.literal('wallet'), wallet: z.string() }),
  z.object({ kind: z.literal('schedule'), event: z.string() }),
  z.object({ kind: z.literal('service'), service: z.string() }),
  z.object({ kind: z.literal('anonymous') }),
]);
export type Caller = z.infer<typeof caller>;

/** The account behind a call; `undefined` for wallets, schedules, services and anonymous calls. */
export const accountOf = (who: Caller): number | undefined =>
  who.kind === 'account' ? who.accountId : undefined;

/** The `caller` of a journal entry: `account:7`, `wallet:<base58>`, `schedule:<event>`. */
export function callerName(who: Caller): string {
  switch (who.kind) {
    case 'account':
      return `account:${who.accountId}`;
    case 'wallet':
      return `wallet:${who.wallet}`;
    case 'schedule':
      return `schedule:${who.event}`;
    case 'service':
      return `service:${who.service}`;
    case 'anonymous':
      return 'anonymous';
  }
}

/** What a handler needs of an AbortSignal to notice that it should stop; every AbortSignal is one. */
export type Cancellation = Pick<AbortSignal, 'aborted' | 'reason' | 'throwIfAborted'> & {
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
};

/**
 * An AbortController for work that nearly always ends before it is aborted: its AbortSignal is made on first use. Making
 * and releasing one costs as much as the rest of a call's bookkeeping.
 */
export class Canceller implements Cancellation {
  #controller: AbortController | undefined;
  /**
   * Made by the first one that listens: hardly any call has one, and some cancellers have hundreds. No `Set`: it would keep
   * alive what has left it (docs/performance.md#what-a-map-keeps-alive).
   */
  #listeners: (() => void)[] | undefined;
  aborted = false;
  reason: unknown = undefined;

  /** Once; later calls change nothing. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#controller?.abort(reason);
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) listener();
  }

  /** For what takes nothing less than an AbortSignal. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.aborted) this.#controller.abort(this.reason);
    return this.#controller.signal;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** A listener is called at most once, as abort happens once. */
  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners ??= [];
    if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1;
    const last = this.#listeners?.at(-1);
    if (this.#listeners === undefined || last === undefined || index < 0) return;
    this.#listeners[index] = last;
    this.#listeners.pop();
  }
}

/** The AbortSignal of a cancellation. */
export const abortSignalOf = (cancellation: Cancellation): AbortSignal => {
  if (cancellation instanceof AbortSignal) return cancellation;
  if (cancellation instanceof Canceller) return cancellation.signal;
  const canceller = new Canceller();
  const abort = () => canceller.abort(cancellation.reason);
  if (cancellation.aborted) abort();
  else cancellation.addEventListener('abort', abort, { once: true });
  return canceller.signal;
};
