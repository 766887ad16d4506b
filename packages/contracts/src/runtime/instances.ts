import { z } from 'zod';
import type { JsonObject } from '../json/json.js';
import { jsonObject } from '../json/json-schemas.js';
import { DEPLOYMENT_PATH, deploymentPath, IN_DEPLOYMENT, instanceId } from '../names/names.js';
import { namedBytes } from '../records/content-limits.js';
import {
  count,
  name,
  ordinal,
  recordTimes,
  soughtName,
  soughtNameInQuery,
  storedName,
  withNfcKeys,
} from '../records/fields.js';
import { pageQuery } from '../records/pagination.js';
import { ifMatch } from '../rpc/entity-tag.js';
import { operationsAt, requestPath, withAdvice, withETag } from '../rpc/operation.js';
import { pastSeq } from './past-seq.js';
import { eitherPagination, instanceQuery } from './queries.js';

const KEY = 'Key of the instance; unique in its deployment and schema.';

export const instanceRecord = z
  .strictObject({
    id: count.describe('Numeric id. 0: a past state of an instance that is gone by now.'),
    entitySchema: storedName.describe('Name of its entity schema.'),
    instanceId: storedName.describe(KEY),
    state: jsonObject.describe(
      'Attribute → value. It satisfies the schema, and may hold attributes that it does not name.',
    ),
    revision: ordinal.describe('Counts the changes from 1; the `ETag` of the instance.'),
    ...recordTimes,
  })
  .meta({ id: 'EntityInstance', description: 'An entity of a deployment.' });
export type InstanceRecord = z.infer<typeof instanceRecord>;

/** A state as sent: the names of its attributes are in NFC from here on. */
function inNfc(sent: JsonObject, context: z.RefinementCtx): JsonObject {
  const named = withNfcKeys(sent);
  if (named !== undefined) return named;
  context.addIssue({
    code: 'custom',
    message: 'Two attributes have the same name in Unicode normal form NFC.',
  });
  return z.NEVER;
}

const SIZE = 'At most 64 KiB as JSON by default.';

export const newInstance = z
  .strictObject({
    entitySchema: name.describe('Name of the entity schema.'),
    instanceId: instanceId.describe(KEY),
    state: jsonObject
      .default({})
      .transform(inNfc)
      .meta({ default: {}, description: `Attribute → value. Defaults of the schema are filled in. ${SIZE}` }),
  })
  .meta({ id: 'NewEntityInstance', description: 'A new entity instance.' });

const PATH = `${DEPLOYMENT_PATH}/entity-instances`;
const all = operationsAt(PATH, 'Entity instances', IN_DEPLOYMENT);
const one = operationsAt(`${PATH}/:instanceId`, 'Entity instances', {
  params: z.strictObject({
    ...deploymentPath.shape,
    instanceId: soughtName.describe('Key of the instance, percent-encoded.'),
  }),
  errors: [...IN_DEPLOYMENT.errors, 'entity_instance_not_found', 'ambiguous_instance'],
});
const schemaName = soughtNameInQuery.optional();
const whichSchema = z.strictObject({
  entitySchema: schemaName.describe(
    'Name of the entity schema. Needed where several schemas have an instance with this key: without it that is 409.',
  ),
});
export const instanceRpcs = {
  'instances.list': withAdvice(
    all.list('', 'List or search entity instances, now or at an earlier position of the history', {
      errors: ['entity_instance_not_found', 'history_broken', 'query_too_costly', 'conflicting_fields'],
      pagination: eitherPagination,
      query: z.strictObject({
        entitySchema: schemaName.describe('Only instances of this entity schema.'),
        atSeq: pastSeq.describe(
          'The instances as they were after this entry of the journal. Absent: as they are now.',
        ),
        ...instanceQuery,
        page: pageQuery.shape.page
          .unwrap()
          .optional()
          .describe(
            'Which page, from 1 (the default), unless `where` or `orderBy` is given. The product of `page` and `limit` may be at most 100,000.',
          ),
        limit: pageQuery.shape.limit,
      }),
      item: instanceRecord,
    }),
  ),
  'instances.create': withETag(
    all.create('Create an entity instance', {
      http: {
        bodyBytes: (limits) => limits.stateBytes + namedBytes(limits),
        location: ({ params }, { instanceId, entitySchema }) =>
          `${requestPath({ path: `${PATH}/:instanceId` }, { ...params, instanceId })}?entitySchema=${encodeURIComponent(String(entitySchema))}`,
      },
      errors: [
        'unknown_entity_schema',
        'invalid_state',
        'entity_instance_exists',
        'limit_reached',
        'write_conflict',
        'deployment_locked',
      ],
      body: newInstance,
      data: instanceRecord,
    }),
  ),
  'instances.get': withETag(
    one.read('', 'Get an entity instance, current or at an earlier position of the history', {
      errors: ['history_broken'],
      query: z.strictObject({
        ...whichSchema.shape,
        atSeq: pastSeq.describe(
          'The instance as it was after this entry of the journal. Absent: as it is now.',
        ),
      }),
      data: instanceRecord,
    }),
  ),
  'instances.update': withETag(
    one.write('PUT', '', 'Replace the state of an entity instance', {
      http: { bodyBytes: ({ stateBytes }) => stateBytes + 1024 },
      errors: ['invalid_state', 'revision_mismatch', 'write_conflict', 'deployment_locked'],
      query: whichSchema,
      headers: ifMatch,
      body: z
        .strictObject({
          state: jsonObject
            .transform(inNfc)
            .describe(
              `The whole new state, stored as it is sent: what is left out is gone, and no default is filled in. ${SIZE}`,
            ),
        })
        .meta({ id: 'ReplacedState', description: 'The state that replaces the present one.' }),
      data: instanceRecord,
    }),
  ),
  'instances.delete': one.remove('Delete an entity instance', {
    errors: ['revision_mismatch', 'write_conflict', 'deployment_locked'],
    query: whichSchema,
    headers: ifMatch,
  }),
};
