import { z } from 'zod';
import { namedBytes } from '../limits/content-limits.js';
import { pageQuery } from '../paging/pagination.js';
import { idempotentHeaders } from '../records/idempotency-key.js';
import { recordId, recordTimes } from '../records/record-fields.js';
import { deleted, description, storedName } from '../records/text.js';
import { listOperation, operation } from '../rpc/operation.js';
import type { HttpBinding } from '../rpc/rpc.js';
import { attributeRecord, createAttributeBody } from './attributes.js';
import { schemaInPath, schemaName, worldInPath } from './names.js';

const NAME = 'What the schema is called; unique in its world.';
const DESCRIPTION = 'What the schema is for, for people. Null: no description.';

export const entitySchemaRecord = z
  .strictObject({
    id: recordId.describe('Numeric id.'),
    worldId: recordId.describe('Numeric id of its world.'),
    name: storedName.describe(NAME),
    description: z.string().nullable().describe(DESCRIPTION),
    attributes: z.array(attributeRecord).describe('Its attributes, in order of creation.'),
    ...recordTimes,
  })
  .meta({ id: 'EntitySchema', description: 'The structure of a kind of entity.' });
export type EntitySchemaRecord = z.infer<typeof entitySchemaRecord>;

export const createEntitySchemaBody = z
  .strictObject({
    name: schemaName.describe(NAME),
    description: description
      .nullable()
      .optional()
      .describe(`${DESCRIPTION} At most 4 KiB as UTF-8 by default.`),
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
    description: description
      .nullable()
      .optional()
      .describe(`${DESCRIPTION} At most 4 KiB as UTF-8 by default.`),
  })
  .meta({
    id: 'UpdateEntitySchema',
    description: 'Changes of an entity schema. Absent members stay, null removes.',
  });
export type UpdateEntitySchemaBody = z.output<typeof updateEntitySchemaBody>;

const inWorld = z.strictObject({ worldAddress: worldInPath });
const params = inWorld.extend({ schemaName: schemaInPath });
const ROOT = '/api/worlds/:worldAddress/entity-schemas';
const http = (
  method: HttpBinding['method'],
  rest: string,
  summary: string,
  more: Partial<HttpBinding> = {},
): HttpBinding => ({ method, path: `${ROOT}${rest}`, status: 200, tag: 'Entity schemas', summary, ...more });

const reading = { scope: 'read', relation: 'visible' } as const;
const writing = { scope: 'write', relation: 'owner' } as const;

export const entitySchemaRpcs = {
  'entitySchemas.list': listOperation({
    http: http('GET', '', 'List the entity schemas of a world'),
    access: reading,
    errors: ['world_not_found', 'page_too_deep'],
    params: inWorld,
    query: pageQuery,
    item: entitySchemaRecord,
  }),
  'entitySchemas.create': operation({
    http: http('POST', '', 'Create an entity schema with its attributes', {
      status: 201,
      location: ({ params: { worldAddress } }, schema) =>
        `/api/worlds/${worldAddress}/entity-schemas/${encodeURIComponent(String(schema['name']))}`,
    }),
    access: writing,
    errors: [
      'world_not_found',
      'entity_schema_exists',
      'attribute_exists',
      'limit_reached',
      'idempotency_key_reused',
      'request_in_flight',
    ],
    params: inWorld,
    headers: idempotentHeaders,
    body: createEntitySchemaBody,
    data: entitySchemaRecord,
  }),
  'entitySchemas.get': operation({
    http: http('GET', '/:schemaName', 'Get an entity schema'),
    access: reading,
    errors: ['world_not_found', 'entity_schema_not_found'],
    params,
    data: entitySchemaRecord,
  }),
  'entitySchemas.update': operation({
    http: http('PUT', '/:schemaName', 'Update an entity schema; a schema in use cannot be renamed', {
      bodyBytes: namedBytes,
    }),
    access: writing,
    errors: ['world_not_found', 'entity_schema_not_found', 'entity_schema_exists', 'entity_schema_in_use'],
    params,
    body: updateEntitySchemaBody,
    data: entitySchemaRecord,
  }),
  'entitySchemas.delete': operation({
    http: http('DELETE', '/:schemaName', 'Delete an entity schema that no version or instance uses'),
    access: writing,
    errors: ['world_not_found', 'entity_schema_not_found', 'entity_schema_in_use'],
    params,
    data: deleted,
  }),
};
