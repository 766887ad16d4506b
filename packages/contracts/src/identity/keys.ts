import { z } from 'zod';
import { name, nullableText, recordTimes, storedName, timestamp } from '../records/fields.js';
import { operationsAt } from '../rpc/operation.js';
import { defineMessage, type HttpBinding, scope } from '../rpc/rpc.js';

const NAME = 'What it is for, for people.';
const SCOPES = 'What it may do.';

/** Scopes of a new key. */
export const keyScopes = z
  .array(scope)
  .min(1)
  .max(4)
  .refine((scopes) => new Set(scopes).size === scopes.length, 'Each scope may appear only once.');

export const keyRecord = z
  .strictObject({
    id: z.string().describe('Id of the key: the first 12 characters of its token after `orrery_`.'),
    name: storedName.describe(NAME),
    scopes: z.array(scope).max(4).describe(SCOPES),
    createdAt: recordTimes.createdAt,
    expiresAt: timestamp.nullable().describe('When it ends. Null: never.'),
    lastUsedAt: timestamp
      .nullable()
      .describe('When it was last used, up to ten seconds behind. Null: never.'),
    madeBy: nullableText.describe(
      'Id of the key that made it: revoking that one revokes it too. Null: a sign-in, a signature or the operator made it.',
    ),
  })
  .meta({ id: 'Key', description: 'An API key, without its secret.' });
export type KeyRecord = z.infer<typeof keyRecord>;

export const createdKey = z
  .strictObject({
    ...keyRecord.shape,
    token: z.string().describe('The token of 68 characters; it cannot be shown again.'),
  })
  .meta({ id: 'CreatedKey', description: 'A new key: the only answer that holds its token.' });
export type CreatedKey = z.infer<typeof createdKey>;

const access = { scope: 'keys', relation: 'account' } as const;
const all = operationsAt('/api/keys', 'Keys', { access });
const one = operationsAt('/api/keys/:id', 'Keys', {
  access,
  params: z.strictObject({ id: z.string().min(1).max(64).describe('Id of the key.') }),
  errors: ['key_not_found'],
});

/** A new key is not made once for an Idempotency-Key: its token is stored nowhere. */
const created: Partial<HttpBinding> = {
  status: 201,
  location: (_request, data) => `/api/keys/${encodeURIComponent(String(data['id']))}`,
};

export const keyRpcs = {
  'keys.list': all.list('', 'List the keys of the account', { item: keyRecord }),
  'keys.create': all.write('POST', '', 'Create a key; the token is shown only once', {
    http: { ...created, bodyBytes: () => 4 * 1024 },
    errors: ['forbidden', 'limit_reached'],
    body: z
      .strictObject({
        name: name.describe(NAME),
        scopes: keyScopes.describe(`${SCOPES} A key has no scope that the key of the request lacks.`),
        expiresAt: z.iso
          .datetime({ offset: true })
          .optional()
          .describe(
            'When it ends, by RFC 3339: not after the key of the request. Absent: with the key of the request.',
          ),
      })
      .meta({ id: 'CreateKey', description: 'A new key.' }),
    data: createdKey,
  }),
  'keys.rotate': one.write(
    'POST',
    '/rotate',
    'Replace a key by a new one with the same name, scopes and expiry',
    {
      http: created,
      errors: ['forbidden', 'limit_reached'],
      query: z.strictObject({
        graceSeconds: z
          .string()
          .regex(/^(0|[1-9]\d{0,4})$/, 'A whole number of seconds is required, without leading zeros.')
          .transform(Number)
          .pipe(z.int().min(0).max(86_400))
          .optional()
          .describe('Seconds that the old key goes on working. Absent or 0: it ends at once.'),
      }),
      data: createdKey,
    },
  ),
  'keys.revoke': one.remove('Revoke a key and the keys that it made'),
};

/** Broadcast so that every gateway forgets the keys at once; a lost one is made good within a second. */
export const keysRevoked = defineMessage(
  'gateway',
  'keys-revoked',
  z.object({ keyIds: z.array(z.string()).max(1000) }),
);
