import { z } from 'zod';
import { jsonValue } from '../json/json-schemas.js';
import { pageQuery } from '../paging/pagination.js';
import { idempotentHeaders } from '../records/idempotency-key.js';
import { deleted, timestamp } from '../records/text.js';
import { listOperation, operation } from '../rpc/operation.js';
import type { HttpBinding } from '../rpc/rpc.js';
import { attributeName, nameInPath, worldInPath } from './names.js';

export const attributeType = z.enum(['integer', 'float', 'string', 'boolean', 'json']);
export type AttributeType = z.infer<typeof attributeType>;

/** `min`/`max` bound numbers, `enum`/`pattern` strings; `required` = present and not null after defaults. */
export const attributeConstraints = z
  .strictObject({
    min: z.number().optional(),
    max: z.number().optional(),
    enum: z.array(z.string()).max(1000).optional(),
    pattern: z.string().max(1000).optional(),
    required: z.boolean().optional(),
  })
  .meta({ id: 'AttributeConstraints' });
export type AttributeConstraints = z.infer<typeof attributeConstraints>;

/** What an attribute means, without where it is stored: the part that hashes and checks are taken over. */
export const attributeDefinition = z.strictObject({
  name: z.string(),
  type: attributeType,
  constraints: attributeConstraints.nullable(),
  defaultValue: jsonValue.nullable(),
});
export type AttributeDefinition = z.infer<typeof attributeDefinition>;

export const attributeRecord = z
  .strictObject({ id: z.int(), ...attributeDefinition.shape, createdAt: timestamp, updatedAt: timestamp })
  .meta({ id: 'Attribute' });
export type AttributeRecord = z.infer<typeof attributeRecord>;

const optionalFields = {
  constraints: attributeConstraints.nullable().optional(),
  defaultValue: jsonValue.nullable().optional(),
};
export const createAttributeBody = z
  .strictObject({ name: attributeName, type: attributeType, ...optionalFields })
  .meta({ id: 'CreateAttribute' });
export type CreateAttributeBody = z.output<typeof createAttributeBody>;
/** Absent stays; `constraints` are replaced whole; `null` removes constraints or default. */
export const updateAttributeBody = z
  .strictObject({ name: attributeName.optional(), type: attributeType.optional(), ...optionalFields })
  .meta({ id: 'UpdateAttribute' });
export type UpdateAttributeBody = z.output<typeof updateAttributeBody>;

const inSchema = z.strictObject({ worldAddress: worldInPath, schemaName: nameInPath });
const params = inSchema.extend({ name: nameInPath });
const ROOT = '/api/worlds/:worldAddress/entity-schemas/:schemaName/attributes';
const http = (
  method: HttpBinding['method'],
  rest: string,
  summary: string,
  more: Partial<HttpBinding> = {},
): HttpBinding => ({ method, path: `${ROOT}${rest}`, status: 200, tag: 'Attributes', summary, ...more });

const reading = { scope: 'read', relation: 'visible' } as const;
const writing = { scope: 'write', relation: 'owner' } as const;

export const attributeRpcs = {
  'attributes.list': listOperation({
    http: http('GET', '', 'List the attributes of an entity schema'),
    access: reading,
    errors: ['world_not_found', 'entity_schema_not_found', 'page_too_deep'],
    params: inSchema,
    query: pageQuery,
    item: attributeRecord,
  }),
  'attributes.create': operation({
    http: http('POST', '', 'Add an attribute to an entity schema', {
      status: 201,
      location: ({ params: { worldAddress, schemaName } }, attribute) =>
        `/api/worlds/${worldAddress}/entity-schemas/${encodeURIComponent(String(schemaName))}` +
        `/attributes/${encodeURIComponent(String(attribute['name']))}`,
    }),
    access: writing,
    errors: [
      'world_not_found',
      'entity_schema_not_found',
      'attribute_exists',
      'limit_reached',
      'idempotency_key_reused',
      'request_in_flight',
    ],
    params: inSchema,
    headers: idempotentHeaders,
    body: createAttributeBody,
    data: attributeRecord,
  }),
  'attributes.get': operation({
    http: http('GET', '/:name', 'Get an attribute'),
    access: reading,
    errors: ['world_not_found', 'entity_schema_not_found', 'attribute_not_found'],
    params,
    data: attributeRecord,
  }),
  'attributes.update': operation({
    http: http('PUT', '/:name', 'Update an attribute; the change applies from the next write'),
    access: writing,
    errors: [
      'world_not_found',
      'entity_schema_not_found',
      'attribute_not_found',
      'attribute_exists',
      'limit_reached',
    ],
    params,
    body: updateAttributeBody,
    data: attributeRecord,
  }),
  'attributes.delete': operation({
    http: http('DELETE', '/:name', 'Delete an attribute; stored values remain'),
    access: writing,
    errors: ['world_not_found', 'entity_schema_not_found', 'attribute_not_found'],
    params,
    data: deleted,
  }),
};
