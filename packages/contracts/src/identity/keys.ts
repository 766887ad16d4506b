import { z } from 'zod';
import { pageQuery } from '../paging/pagination.js';
import { deleted, name, timestamp } from '../records/text.js';
import { scope } from '../rpc/call-context.js';
import { defineMessage } from '../rpc/message.js';
import { listOperation, operation } from '../rpc/operation.js';

/** An API key as it is listed: never with its secret. */
export const keyRecord = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    scopes: z.array(scope),
    createdAt: timestamp,
    expiresAt: timestamp.nullable(),
    /** Recorded in batches: up to ten seconds behind. */
    lastUsedAt: timestamp.nullable(),
  })
  .meta({ id: 'Key' });
export type KeyRecord = z.infer<typeof keyRecord>;

export const createdKey = z
  .strictObject({ ...keyRecord.shape, token: z.string() })
  .meta({ id: 'CreatedKey', description: 'The only response that contains the token' });
export type CreatedKey = z.infer<typeof createdKey>;

const keyParams = z.strictObject({ id: z.string().min(1).max(64) });
const access = { scope: 'keys', relation: 'account' } as const;
const tag = 'Keys';

export const keyRpcs = {
  'keys.list': listOperation({
    http: { method: 'GET', path: '/api/keys', status: 200, tag, summary: 'List the keys of the account' },
    access,
    errors: ['page_too_deep'],
    query: pageQuery,
    item: keyRecord,
  }),
  'keys.create': operation({
    http: {
      method: 'POST',
      path: '/api/keys',
      bodyBytes: 4 * 1024,
      status: 201,
      tag,
      summary: 'Create a key; the token is shown only once',
      location: (_request, data) => `/api/keys/${encodeURIComponent(String(data['id']))}`,
    },
    access,
    errors: ['forbidden', 'limit_reached'],
    body: z
      .strictObject({
        name,
        scopes: z
          .array(scope)
          .min(1)
          .max(4)
          .refine((scopes) => new Set(scopes).size === scopes.length, 'Each scope may appear only once.'),
        expiresAt: z.iso.datetime({ offset: true }).optional(),
      })
      .meta({ id: 'CreateKey' }),
    data: createdKey,
  }),
  'keys.rotate': operation({
    http: {
      method: 'POST',
      path: '/api/keys/:id/rotate',
      status: 201,
      tag,
      summary: 'Replace a key by a new one with the same name, scopes and expiry',
      location: (_request, data) => `/api/keys/${encodeURIComponent(String(data['id']))}`,
    },
    access,
    errors: ['key_not_found', 'forbidden'],
    params: keyParams,
    query: z.strictObject({
      /** Seconds that the old key goes on working; 0 (default) ends it at once. */
      graceSeconds: z
        .string()
        .regex(/^\d{1,5}$/, 'A whole number of seconds is required.')
        .transform(Number)
        .pipe(z.int().max(86_400))
        .optional(),
    }),
    data: createdKey,
  }),
  'keys.revoke': operation({
    http: { method: 'DELETE', path: '/api/keys/:id', status: 200, tag, summary: 'Revoke a key' },
    access,
    errors: ['key_not_found'],
    params: keyParams,
    data: deleted,
  }),
};

/** Broadcast so that every gateway forgets the keys at once; a lost one is made good within a second. */
export const keysRevoked = defineMessage(
  'gateway',
  'keys-revoked',
  z.object({ keyIds: z.array(z.string()).max(1000) }),
);
