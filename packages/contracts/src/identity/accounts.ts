import { z } from 'zod';
import { timestamp } from '../records/text.js';
import { scope } from '../rpc/call-context.js';
import { defineMessage } from '../rpc/message.js';
import { operation } from '../rpc/operation.js';
import { rpc } from '../rpc/rpc.js';

/** What an account may use up; an absent limit is not limited. */
export const accountQuotas = z
  .strictObject({
    worlds: z.int().min(0).optional(),
    deployments: z.int().min(0).optional(),
    /** US dollars that models may cost in a UTC day. */
    aiUsdPerDay: z.number().min(0).optional(),
    /** Pushes to chains in a UTC day. */
    pushesPerDay: z.int().min(0).optional(),
  })
  .meta({ id: 'AccountQuotas' });
export type AccountQuotas = z.infer<typeof accountQuotas>;

export const accountRecord = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    /** Base58 public key of the wallet that signed up, or null for an account made by the operator. */
    wallet: z.string().nullable(),
    quotas: accountQuotas,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Account' });
export type AccountRecord = z.infer<typeof accountRecord>;

/** What the other services must know of an account. `revision` grows with every change, so late news is ignored. */
export const accountState = z.object({
  accountId: z.int(),
  disabled: z.boolean(),
  quotas: accountQuotas,
  revision: z.int(),
});
export type AccountState = z.infer<typeof accountState>;

export const accountRpcs = {
  /** Who a token is. */
  'accounts.me': operation({
    http: {
      method: 'GET',
      path: '/api/me',
      status: 200,
      tag: 'Keys',
      summary: 'Get the account and the key of the token',
    },
    access: { scope: 'none', relation: 'account' },
    errors: [],
    data: z
      .strictObject({
        account: accountRecord,
        key: z.strictObject({ id: z.string(), scopes: z.array(scope), expiresAt: timestamp.nullable() }),
      })
      .meta({ id: 'Me' }),
  }),
};

export const accountStateRpcs = {
  /** A page of account states by rising id, for the periodic reconciliation of the other services. */
  'accounts.states': rpc({
    access: { scope: 'none', relation: 'internal' },
    errors: [],
    request: z.object({ afterId: z.int().min(0), limit: z.int().min(1).max(1000) }),
    reply: z.object({ states: z.array(accountState) }),
  }),
};

/** Published after an account was made, disabled, enabled or given other quotas. */
export const accountChanged = defineMessage('gateway', 'account-changed', accountState);
