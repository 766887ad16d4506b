import { z } from 'zod';
import { nullableText, recordId, recordTimes, timestamp } from '../records/fields.js';
import { operationsAt } from '../rpc/operation.js';
import { defineMessage, rpc, scope } from '../rpc/rpc.js';

/** Services count in 32 bits. */
export const MAX_QUOTA = 999_999_999;

export const accountQuotas = z
  .strictObject({
    worlds: z.int().min(0).optional().describe('Worlds that it may have.'),
    deployments: z.int().min(0).optional().describe('Deployments that it may have.'),
    aiUsdPerDay: z.number().min(0).optional().describe('US dollars that models may cost in a UTC day.'),
    pushesPerDay: z.int().min(0).optional().describe('Pushes to chains in a UTC day.'),
  })
  .meta({ id: 'AccountQuotas', description: 'What an account may use up. An absent member is not limited.' });
export type AccountQuotas = z.infer<typeof accountQuotas>;

export const accountRecord = z
  .strictObject({
    id: recordId.describe('Numeric id.'),
    name: z.string().describe('Its name.'),
    wallet: nullableText.describe('The wallet that signed up. Null: the operator made the account.'),
    quotas: accountQuotas.describe('What it may use up.'),
    ...recordTimes,
  })
  .meta({ id: 'Account', description: 'Who owns worlds, deployments and keys.' });
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
  'accounts.me': operationsAt('/api/me', 'Keys', { access: { scope: 'none', relation: 'account' } }).read(
    '',
    'Get the account and the key of the token',
    {
      data: z
        .strictObject({
          account: accountRecord.describe('The account that the key belongs to.'),
          key: z
            .strictObject({
              id: z.string().describe('Id of the key.'),
              scopes: z.array(scope).max(4).describe('What the key may do.'),
              expiresAt: timestamp.nullable().describe('When it ends. Null: never.'),
            })
            .describe('The key that the request was sent with.'),
        })
        .meta({ id: 'Me', description: 'Who a key is.' }),
    },
  ),
};

export const accountStateRpcs = {
  /** A page of account states by rising id, for the periodic reconciliation of the other services. */
  'accounts.states': rpc({
    request: z.object({ afterId: z.int().min(0), limit: z.int().min(1).max(1000) }),
    reply: z.object({ states: z.array(accountState) }),
  }),
};

/** Published after an account was made, disabled, enabled or given other quotas. */
export const accountChanged = defineMessage('gateway', 'account-changed', accountState);
