import { definitionLimitRpcs } from '../limits/limits.js';
import { defineContract } from '../rpc/rpc.js';
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
  ...definitionLimitRpcs,
});
