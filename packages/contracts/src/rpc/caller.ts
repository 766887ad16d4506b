import { z } from 'zod';

/** What a key may do (decisions §2). */
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
