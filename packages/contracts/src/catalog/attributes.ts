import { z } from 'zod';
import { jsonValue } from '../json/json-schemas.js';
import { MOST_INDEXED } from '../limits/limits.js';
import { attributeInPath, attributeName, schemaInPath, worldInPath } from '../names/names.js';
import { recordId, recordTimes, storedName } from '../records/fields.js';
import { operationsAt, withETag } from '../rpc/operation.js';

export const attributeType = z.enum(['integer', 'float', 'string', 'boolean', 'json']).meta({
  id: 'AttributeType',
  description:
    '`integer`: a whole number from -(2^53 - 1) to 2^53 - 1; `float`: any finite double; `string`; `boolean`; `json`: any ' +
    'JSON value.',
});
export type AttributeType = z.infer<typeof attributeType>;

export const attributeConstraints = z
  .strictObject({
    min: z.number().optional().describe('The least value of an `integer` or `float`.'),
    max: z.number().optional().describe('The greatest value of an `integer` or `float`.'),
    enum: z
      .array(z.string().meta({ maxLength: 262_144 }))
      .max(1000)
      .optional()
      .describe('The only values that a `string` may have.'),
    pattern: z
      .string()
      .max(1000)
      .optional()
      .describe(
        'A regular expression that must match somewhere in a `string`; anchor it with ^ and $ for the whole. It runs in ' +
          'linear time, so back-references and look-around are refused.',
      ),
    required: z
      .boolean()
      .optional()
      .describe(
        'Whether the value must be present and not null, once defaults are filled in. Absent: false.',
      ),
  })
  .meta({ id: 'AttributeConstraints', description: 'Rules that every value of an attribute satisfies.' });
export type AttributeConstraints = z.infer<typeof attributeConstraints>;

const NAME = 'What the attribute is called; unique in its schema.';
const CONSTRAINTS = 'Rules for the values. Null: any value of the type.';
const DEFAULT = 'The value where a state has none. Null: no default.';
const INDEXED =
  'Whether each deployment keeps an index of the attribute, by which queries order and compare it. It changes no answer ' +
  'and no hash.';

/** What an attribute means, without where it is stored: the part that hashes and checks are taken over. */
export const attributeDefinition = z.strictObject({
  name: storedName.describe(NAME),
  type: attributeType.describe('The type of the values.'),
  constraints: attributeConstraints.nullable().describe(CONSTRAINTS),
  defaultValue: jsonValue.nullable().describe(DEFAULT),
});
export type AttributeDefinition = z.infer<typeof attributeDefinition>;

export const attributeRecord = z
  .strictObject({
    id: recordId.describe('Numeric id.'),
    ...attributeDefinition.shape,
    // A catalog of the previous release leaves it out.
    indexed: z.boolean().default(false).describe(INDEXED),
    ...recordTimes,
  })
  .meta({ id: 'Attribute', description: 'A typed value that the instances of a schema have.' });
export type AttributeRecord = z.infer<typeof attributeRecord>;

const optionalFields = {
  constraints: attributeConstraints.nullish().describe(CONSTRAINTS),
  defaultValue: jsonValue.nullish().describe(`${DEFAULT} It must satisfy the constraints.`),
  indexed: z
    .boolean()
    .optional()
    .describe(`${INDEXED} At most ${MOST_INDEXED} of a schema, none of type \`json\`.`),
};
export const createAttributeBody = z
  .strictObject({
    name: attributeName.describe(NAME),
    type: attributeType.describe('The type of the values.'),
    ...optionalFields,
  })
  .meta({ id: 'CreateAttribute', description: 'A new attribute.' });
export type CreateAttributeBody = z.output<typeof createAttributeBody>;
export const updateAttributeBody = z
  .strictObject({
    name: attributeName.optional().describe(`${NAME} Stored values keep their old name.`),
    type: attributeType.optional().describe('The type of the values. Stored values stay as they are.'),
    ...optionalFields,
  })
  .meta({
    id: 'UpdateAttribute',
    description:
      'Changes of an attribute. Absent members stay, `constraints` are replaced whole, null removes.',
  });
export type UpdateAttributeBody = z.output<typeof updateAttributeBody>;

const ofSchema = {
  params: z.strictObject({ worldAddress: worldInPath, schemaName: schemaInPath }),
  errors: ['world_not_found', 'entity_schema_not_found'],
} as const;
const PATH = '/api/worlds/:worldAddress/entity-schemas/:schemaName/attributes';
const all = operationsAt(PATH, 'Attributes', ofSchema);
const one = operationsAt(`${PATH}/:name`, 'Attributes', {
  params: ofSchema.params.extend({ name: attributeInPath }),
  errors: [...ofSchema.errors, 'attribute_not_found'],
});

export const attributeRpcs = {
  'attributes.list': all.list('', 'List the attributes of an entity schema', { item: attributeRecord }),
  'attributes.create': all.create('Add an attribute to an entity schema', {
    errors: ['attribute_exists', 'limit_reached', 'request_in_flight'],
    body: createAttributeBody,
    data: attributeRecord,
  }),
  'attributes.get': withETag(one.read('', 'Get an attribute', { data: attributeRecord })),
  'attributes.update': one.update('Update an attribute; the change applies from the next write', {
    errors: ['attribute_exists', 'limit_reached'],
    body: updateAttributeBody,
    data: attributeRecord,
  }),
  'attributes.delete': one.remove('Delete an attribute; stored values remain'),
};
