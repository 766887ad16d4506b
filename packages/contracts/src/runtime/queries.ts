import { z } from 'zod';
import { jsonObject } from '../json/json-schemas.js';
import { DEPLOYMENT_PATH, deploymentPath, IN_DEPLOYMENT } from '../names/names.js';
import { count, ordinal, soughtName, soughtNameInQuery, storedName } from '../records/fields.js';
import { MAX_LIMIT, pagination } from '../records/pagination.js';
import { operationsAt, withAdvice } from '../rpc/operation.js';
import { pastSeq } from './past-seq.js';

/** Characters of a condition, and of an order. */
const MAX_TEXT = 2000;
const MAX_CURSOR = 12_288;

const flag = z
  .union([z.boolean(), z.enum(['', 'true', 'false'])], 'The flag must be "true" or "false".')
  .transform((value) => value === true || value === 'true' || value === '');

const expression = z.string().min(1).max(MAX_TEXT);

const where = expression
  .optional()
  .describe(
    'A CEL condition over `instance` (the attributes) and `id`, such as `instance.wins > 3 && !instance.injured`. A test ' +
      'that cannot be made, for instance of a missing attribute, is false. Needs `entitySchema`.',
  );
const orderBy = expression.describe(
  'Attributes, such as `wins desc, speed`; at most 4, ties by `id`. Numbers come before texts (by their first 256 ' +
    'characters) and these before booleans; what is missing comes last. Needs `entitySchema`, except for the present list by `id` alone.',
);
const needed = soughtNameInQuery.describe('Name of the entity schema.');

/** What makes a list of instances a query. */
export const instanceQuery = {
  where,
  orderBy: orderBy.optional(),
  cursor: z
    .string()
    .min(1)
    .max(MAX_CURSOR)
    .optional()
    .describe('`next` of the page before, with the same `where` and `orderBy`. Absent: the first page.'),
  count: flag.optional().meta({
    type: 'string',
    enum: ['true', 'false'],
    description:
      '`true`: with `where` or `orderBy`, `pagination` says how many instances there are on all pages.',
  }),
};

export const cursorPagination = z
  .strictObject({
    limit: z.int().min(1).max(MAX_LIMIT).describe('How many items a page has at most.'),
    next: z
      .string()
      .max(MAX_CURSOR)
      .nullable()
      .describe('`cursor` of the next page. Null: this is the last page.'),
    total: count.optional().describe('How many items all pages have. Absent unless `count=true`.'),
  })
  .meta({ id: 'CursorPagination', description: 'Which part of a query’s list the answer holds.' });
export type CursorPagination = z.infer<typeof cursorPagination>;

export const eitherPagination = z.union([pagination, cursorPagination]);

const MAX_NAMES = 8;
/** Groups that one answer holds at most. */
export const MAX_GROUPS = 500;

const attributes = (what: string) =>
  expression
    .optional()
    .describe(`${what} Attributes as in \`orderBy\`, separated by commas, at most ${MAX_NAMES}.`);

export const aggregateQuery = z.strictObject({
  entitySchema: needed,
  where,
  groupBy: attributes(
    'One answer for each combination of their values; null, lists and objects count as missing, texts by their first 256 characters.',
  ),
  count: flag.optional().meta({
    type: 'string',
    enum: ['true', 'false', ''],
    description: 'How many instances there are. It is the default where nothing else is asked for.',
  }),
  sum: attributes('The sums of their numbers: exact, then rounded once to a double.'),
  min: attributes('The first values in the order of `orderBy`, booleans left out.'),
  max: attributes('The last values in the order of `orderBy`, booleans left out.'),
  avg: attributes('The sums of their numbers, divided by how many they are.'),
  atSeq: pastSeq.describe(
    'The instances as they were after this entry of the journal. Absent: as they are now.',
  ),
});
export type AggregateQuery = z.output<typeof aggregateQuery>;

const number = z.number().nullable();
const values = (what: string) =>
  z
    .record(z.string(), z.union([z.string(), number]))
    .optional()
    .describe(what);

export const aggregateRecord = z
  .strictObject({
    group: jsonObject.describe(
      'The values of `groupBy` that these instances share; a missing one is null. Without it empty.',
    ),
    count: count.optional().describe('How many instances there are.'),
    sum: z
      .record(z.string(), number)
      .optional()
      .describe('Attribute → sum of its numbers, 0 for none. Null: beyond the largest double.'),
    min: values('Attribute → its first value. Null: none.'),
    max: values('Attribute → its last value. Null: none.'),
    avg: z
      .record(z.string(), number)
      .optional()
      .describe('Attribute → mean of its numbers. Null: there is none.'),
  })
  .meta({ id: 'InstanceAggregate', description: 'What a group of instances comes to.' });
export type AggregateRecord = z.infer<typeof aggregateRecord>;

export const instanceRank = z
  .strictObject({
    entitySchema: storedName.describe('Name of the entity schema.'),
    instanceId: storedName.describe('Key of the instance.'),
    rank: ordinal.describe(
      'Its place in the order, from 1. Of instances that tie, the one with the smaller id is first.',
    ),
    total: count.describe('How many instances the schema has.'),
  })
  .meta({ id: 'InstanceRank', description: 'The place of an instance in an order.' });
export type InstanceRank = z.infer<typeof instanceRank>;

const queryErrors = ['query_too_costly', 'entity_instance_not_found', 'history_broken'] as const;
const aggregates = operationsAt(`${DEPLOYMENT_PATH}/entity-aggregates`, 'Entity instances', IN_DEPLOYMENT);
const one = operationsAt(`${DEPLOYMENT_PATH}/entity-instances/:instanceId/rank`, 'Entity instances', {
  params: z.strictObject({
    ...deploymentPath.shape,
    instanceId: soughtName.describe('Key of the instance, percent-encoded.'),
  }),
  errors: IN_DEPLOYMENT.errors,
});

export const queryRpcs = {
  'instances.aggregate': withAdvice(
    aggregates.read('', 'Count, add up and group entity instances', {
      errors: queryErrors,
      query: aggregateQuery,
      data: z.array(aggregateRecord).max(MAX_GROUPS),
    }),
  ),
  'instances.rank': withAdvice(
    one.read('', 'Get the place of an entity instance in an order', {
      errors: queryErrors,
      query: z.strictObject({
        entitySchema: needed,
        orderBy,
        atSeq: pastSeq.describe(
          'The place that it had after this entry of the journal. Absent: as it is now.',
        ),
      }),
      data: instanceRank,
    }),
  ),
};
