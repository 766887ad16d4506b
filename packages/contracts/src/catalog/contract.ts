import { z } from 'zod';
import { definitionLimits } from '../limits/limits.js';
import { address, timestamp } from '../records/fields.js';
import { defineContract, defineMessage, rpc } from '../rpc/rpc.js';
import { attributeRpcs } from './attributes.js';
import { checkRpcs } from './check-definitions.js';
import { definitionRpcs } from './definitions.js';
import { entitySchemaRpcs } from './entity-schemas.js';
import { versionRpcs } from './event-versions.js';
import { eventRpcs } from './events.js';
import { worldRpcs } from './worlds.js';

/** Everything that the catalog answers. */
export const catalogContract = defineContract('catalog', {
  ...worldRpcs,
  ...checkRpcs,
  ...entitySchemaRpcs,
  ...attributeRpcs,
  ...eventRpcs,
  ...versionRpcs,
  ...definitionRpcs,
  'limits.ofDefinitions': rpc({ request: z.object({}), reply: definitionLimits }),
});

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
