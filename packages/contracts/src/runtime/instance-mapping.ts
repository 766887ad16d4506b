import { z } from 'zod';
import { createAttributeBody } from '../catalog/attributes.js';
import { boundedMap, jsonValue } from '../json/json-schemas.js';
import { DEPLOYMENT_PATH, IN_DEPLOYMENT } from '../names/names.js';
import { count, name, ordinal, storedName } from '../records/fields.js';
import { definitionProblem } from '../records/problems.js';
import { operationsAt } from '../rpc/operation.js';

/** Instances that one request looks at, and that it changes. */
export const MOST_LOOKED_AT = 2000;
export const MOST_MAPPED = 100;
/** Instances of which one answer says what is wrong. */
export const MOST_EXAMPLES = 20;

const asked = {
  entitySchema: name.describe('Name of the entity schema whose instances are looked at.'),
  where: z
    .string()
    .min(1)
    .max(2000)
    .optional()
    .describe(
      'A CEL condition over `instance` (the state with its defaults) and `id`: instances that satisfy it are mapped too, ' +
        'although they satisfy the schema. Once mapped, an instance must satisfy it no more.',
    ),
  fillDefaults: z
    .boolean()
    .optional()
    .describe(
      'True: the defaults of the schema are also written to instances that satisfy it without them, and nothing else of the ' +
        'mapping. An instance that has a value for each default is left alone.',
    ),
  cursor: z
    .string()
    .regex(/^\d{1,16}$/, 'A cursor is what the answer before called next.')
    .optional()
    .describe('`next` of the answer before; absent: from the first instance on.'),
};

const mapping = boundedMap(jsonValue, 200)
  .describe(
    'Attribute → its new value, in which `{{ … }}` holds CEL over `instance` (the state with its defaults) and `id`; null ' +
      'removes the attribute. Attributes that it does not name stay.',
  )
  .meta({ example: { victories: '{{ instance.wins }}', wins: null } });

const misfit = z
  .strictObject({
    instanceId: storedName.describe('Key of the instance.'),
    revision: ordinal.describe('Its revision.'),
    problems: z
      .array(definitionProblem)
      .max(20)
      .describe(
        'What is wrong with its state, or with what the mapping makes of it; pointers are into the state.',
      ),
  })
  .meta({ id: 'InstanceMisfit', description: 'An instance that does not satisfy its entity schema.' });
export type InstanceMisfit = z.infer<typeof misfit>;

const counts = {
  lookedAt: count.describe('Instances that this request looked at: 2,000 at most.'),
  unfit: count.describe(
    'Those of them that do not satisfy the schema, that `where` selects, or that lack defaults where those are filled in.',
  ),
  misfits: z.array(misfit).max(MOST_EXAMPLES).describe('The first 20 of those that are left unfit, and why.'),
  next: z
    .string()
    .nullable()
    .describe('The `cursor` of the instances after these. Null: these were the last.'),
};

const instanceCheck = z
  .strictObject({
    ...counts,
    mappable: count.describe('Those of the unfit ones that the mapping would make fit. 0 without a mapping.'),
  })
  .meta({ id: 'InstanceCheck', description: 'How many instances do not satisfy an entity schema.' });

const instanceMapping = z
  .strictObject({
    ...counts,
    mapped: count.describe('Those of the unfit ones that were mapped: 100 at most.'),
  })
  .meta({
    id: 'InstanceMapping',
    description: 'What became of the instances that did not satisfy their schema.',
  });

const all = operationsAt(`${DEPLOYMENT_PATH}/entity-instances`, 'Entity instances', IN_DEPLOYMENT);
const errors = ['unknown_entity_schema', 'invalid_template'] as const;

/** State that follows a changed schema (docs/schemas.md "When a schema changes"). */
export const mappingRpcs = {
  'instances.check': all.write('POST', '/check', 'Count the instances that do not satisfy their schema', {
    access: { scope: 'read', relation: 'owner' },
    errors,
    body: z
      .strictObject({
        ...asked,
        attributes: z
          .array(createAttributeBody)
          .max(500)
          .optional()
          .describe('The attributes as they are to be. Absent: those of the schema as it is.'),
        mapping: mapping.optional(),
      })
      .meta({ id: 'CheckedInstances', description: 'Which instances are checked, and against what.' }),
    data: instanceCheck,
  }),
  'instances.map': all.write('POST', '/map', 'Map the instances that do not satisfy their schema', {
    errors: [...errors, 'deployment_locked', 'write_conflict'],
    body: z
      .strictObject({ ...asked, mapping })
      .meta({ id: 'MappedInstances', description: 'Which instances are mapped, and how.' }),
    data: instanceMapping,
  }),
};
