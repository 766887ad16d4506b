import { z } from 'zod';
import { schemaInPath, schemaName, worldInPath } from '../names/names.js';
import { namedBytes } from '../records/content-limits.js';
import { nullableText, recordId, recordTimes, sentDescription, storedName } from '../records/fields.js';
import { operationsAt, withETag } from '../rpc/operation.js';
import { attributeRecord, createAttributeBody } from './attributes.js';

const NAME = 'What the schema is called; unique in its world.';
const DESCRIPTION = 'What the schema is for, for people. Null: no description.';

export const entitySchemaRecord = z
  .strictObject({
    id: recordId.describe('Numeric id.'),
    worldId: recordId.describe('Numeric id of its world.'),
    name: storedName.describe(NAME),
    description: nullableText.describe(DESCRIPTION),
    attributes: z.array(attributeRecord).describe('Its attributes, in order of creation.'),
    ...recordTimes,
  })
  .meta({ id: 'EntitySchema', description: 'The structure of a kind of entity.' });
export type EntitySchemaRecord = z.infer<typeof entitySchemaRecord>;

export const createEntitySchemaBody = z
  .strictObject({
    name: schemaName.describe(NAME),
    description: sentDescription(DESCRIPTION),
    attributes: z
      .array(createAttributeBody)
      .max(1000)
      .optional()
      .describe('Attributes to create with it. A schema has at most 200, unless the operator allows others.'),
  })
  .meta({ id: 'CreateEntitySchema', description: 'A new entity schema.' });
export type CreateEntitySchemaBody = z.output<typeof createEntitySchemaBody>;
export const updateEntitySchemaBody = z
  .strictObject({
    name: schemaName.optional().describe(`${NAME} A schema in use keeps its name.`),
    description: sentDescription(DESCRIPTION),
  })
  .meta({
    id: 'UpdateEntitySchema',
    description: 'Changes of an entity schema. Absent members stay, null removes.',
  });
export type UpdateEntitySchemaBody = z.output<typeof updateEntitySchemaBody>;

const inWorld = {
  params: z.strictObject({ worldAddress: worldInPath }),
  errors: ['world_not_found'],
} as const;
const all = operationsAt('/api/worlds/:worldAddress/entity-schemas', 'Entity schemas', inWorld);
const one = operationsAt('/api/worlds/:worldAddress/entity-schemas/:schemaName', 'Entity schemas', {
  params: inWorld.params.extend({ schemaName: schemaInPath }),
  errors: [...inWorld.errors, 'entity_schema_not_found'],
});

export const entitySchemaRpcs = {
  'entitySchemas.list': all.list('', 'List the entity schemas of a world', { item: entitySchemaRecord }),
  'entitySchemas.create': all.create('Create an entity schema with its attributes', {
    errors: ['entity_schema_exists', 'attribute_exists', 'limit_reached', 'request_in_flight'],
    body: createEntitySchemaBody,
    data: entitySchemaRecord,
  }),
  'entitySchemas.get': withETag(one.read('', 'Get an entity schema', { data: entitySchemaRecord })),
  'entitySchemas.update': one.update('Update an entity schema; a schema in use cannot be renamed', {
    http: { bodyBytes: namedBytes },
    errors: ['entity_schema_exists', 'entity_schema_in_use'],
    body: updateEntitySchemaBody,
    data: entitySchemaRecord,
  }),
  'entitySchemas.delete': one.remove('Delete an entity schema that no version or instance uses', {
    errors: ['entity_schema_in_use'],
  }),
};
