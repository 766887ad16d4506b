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
  signal: AbortSignal;
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

/** Aborts when its work should stop. */
export type Cancellation = AbortSignal;
