import { z } from 'zod';
import { address } from '../ids/address.js';
import { timestamp } from '../records/text.js';
import { defineMessage } from '../rpc/message.js';

/**
 * Something in the catalog changed. Correctness does not depend on this message. It holds no definition, so other accounts
 * learn nothing of a private world but that it changes.
 */
export const catalogChanged = defineMessage(
  'catalog',
  'changed',
  z.object({
    worldId: z.int(),
    worldAddress: address,
    ownerAccountId: z.int(),
    subject: z.enum(['world', 'entity_schema', 'event', 'event_version']),
    /** Of the world, schema or event; for a version its event's. */
    name: z.string(),
    version: z.int().nullable(),
    change: z.enum(['created', 'updated', 'published', 'unpublished', 'locked', 'deleted']),
    at: timestamp,
  }),
);
export type CatalogChanged = z.infer<typeof catalogChanged.payload>;
