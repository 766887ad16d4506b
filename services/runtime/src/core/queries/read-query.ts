import { createHash } from 'node:crypto';
import {
  type AggregateQuery,
  fieldProblem,
  findUnsafeJson,
  MAX_GROUPS,
  parseJson,
  ServiceError,
  toNfc,
} from '@orrery/contracts';
import {
  type Condition,
  compileCondition,
  type OrderKey,
  type OrderValue,
  parseOrder,
} from '@orrery/expressions';
import type { Aggregation, NamedPath } from './aggregate.js';

const refused = (member: string, message: string): ServiceError =>
  new ServiceError('validation_failed', `${member}: ${message}`, {
    errors: [fieldProblem(`#query/${member}`, 'invalid', message)],
  });

/** @throws `validation_failed` where the text is no condition */
export function readWhere(text: string | undefined): Condition | undefined {
  if (text === undefined) return undefined;
  const compiled = compileCondition(text);
  if (compiled.ok) return compiled.condition;
  const { message, offset } = compiled.problem;
  throw refused('where', `${message} (at character ${offset + 1})`);
}

/** Names of attributes are stored in NFC; the keys of their values are not. */
function named({ path, isDescending }: OrderKey): OrderKey {
  const [name, ...keys] = path ?? [];
  return { path: name === undefined ? null : [toNfc(name), ...keys], isDescending };
}

/** @throws `validation_failed` where the text is no order */
export function readOrder(text: string | undefined): OrderKey[] {
  if (text === undefined) return [];
  const parsed = parseOrder(text);
  if (parsed.ok) return parsed.order.map(named);
  throw refused('orderBy', parsed.problem);
}

/** A query lists the instances of one schema. @throws `validation_failed` */
export function neededSchema(entitySchema: string | undefined): string {
  if (entitySchema !== undefined) return entitySchema;
  throw refused(
    'entitySchema',
    'A query needs the name of an entity schema. Of all schemas, orderBy=id lists the instances as they are now; leave out where and atSeq.',
  );
}

const MAX_NAMES = 8;

function readNames(member: string, text: string | undefined): NamedPath[] {
  const parsed = text === undefined ? { ok: true as const, order: [] } : parseOrder(text, MAX_NAMES);
  if (!parsed.ok) throw refused(member, parsed.problem);
  return parsed.order.map(named).map(({ path, isDescending }) => {
    if (path === null || isDescending)
      throw refused(member, 'Name attributes, separated by commas, without a direction.');
    return { name: path.join('.'), path };
  });
}

/** @throws `validation_failed` where one of the lists is none */
export function readAggregation({ groupBy, count, sum, min, max, avg }: AggregateQuery): Aggregation {
  const read = {
    groupBy: readNames('groupBy', groupBy),
    sum: readNames('sum', sum),
    min: readNames('min', min),
    max: readNames('max', max),
    avg: readNames('avg', avg),
  };
  const asksElse = [sum, min, max, avg].some((one) => one !== undefined);
  return { ...read, count: count ?? !asksElse };
}

export const tooManyGroups = (): ServiceError =>
  new ServiceError(
    'query_too_costly',
    `There are more than ${MAX_GROUPS} groups. Narrow "where", or group by fewer attributes.`,
    { facts: { limit: MAX_GROUPS } },
  );

/** A place in the order of a query: the values of an instance, and its instanceId. */
export interface Place {
  readonly values: readonly OrderValue[];
  readonly id: string;
}

/** What a cursor belongs to: a cursor of another query would show another list from its middle on. */
export type CursorQuery = readonly (string | number | undefined)[];

const fingerprint = (query: CursorQuery): string =>
  createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, 11);

export const writeCursor = (query: CursorQuery, { values, id }: Place): string =>
  Buffer.from(JSON.stringify([fingerprint(query), id, ...values]), 'utf8').toString('base64url');

/** @throws `validation_failed` for what no page of this query has as `next` */
export function readCursor(query: CursorQuery, keys: number, cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined;
  const [mark, id, ...values] = partsOf(cursor);
  const areValues = values.every(
    (value) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  );
  if (mark === fingerprint(query) && typeof id === 'string' && values.length === keys && areValues)
    return { id, values: values as OrderValue[] };
  throw refused('cursor', 'It is no `next` of this query. Leave it out to begin with the first page.');
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) && findUnsafeJson(parts) === undefined ? parts : [];
  } catch {
    return [];
  }
}
