import {
  type CallContext,
  type CursorPagination,
  type Handlers,
  type InstanceRecord,
  type queryRpcs,
  ServiceError,
} from '@orrery/contracts';
import { type OrderKey, orderValues } from '@orrery/expressions';
import { answerOf } from '../../core/queries/aggregate.js';
import {
  neededSchema,
  readAggregation,
  readCursor,
  readOrder,
  readWhere,
  writeCursor,
} from '../../core/queries/read-query.js';
import type { SeenDeployment } from '../../store/deployments/deployment-directory.js';
import { instancesByKey, recordOf } from '../../store/deployments/instance-store.js';
import {
  earlierGroups,
  earlierPage,
  earlierRank,
} from '../../store/deployments/queries/earlier-instances.js';
import {
  queryCount,
  queryGroups,
  queryPage,
  queryRank,
} from '../../store/deployments/queries/present-instances.js';
import { type InstanceQuery, sourced } from '../../store/deployments/queries/query-source.js';
import { headOf } from '../../store/journal/journal-store.js';
import type { Db } from '../../store/tables/schema.js';
import type { RuntimeContext } from '../context.js';
import { adviceOn } from './query-advice.js';
import type { RunQuery } from './run-query.js';

interface ListQuery {
  readonly entitySchema?: string | undefined;
  readonly where?: string | undefined;
  readonly orderBy?: string | undefined;
  readonly cursor?: string | undefined;
  readonly count?: boolean | undefined;
  readonly atSeq?: number | undefined;
  readonly page?: number | undefined;
  readonly limit: number;
}

/** Whether a list is asked for by a query and not page by page. */
export const isQuery = ({ where, orderBy, cursor, count }: ListQuery): boolean =>
  [where, orderBy, cursor, count].some((one) => one !== undefined);

/** Whether the instances of all schemas are asked for: in the order of their ids, which takes no search. */
const isOfAll = ({ entitySchema, where, atSeq }: ListQuery, order: readonly OrderKey[]): boolean =>
  [entitySchema, where, atSeq].every((one) => one === undefined) &&
  order.length === 1 &&
  order.every(({ path, isDescending }) => path === null && !isDescending);

interface QueriedList {
  readonly data: InstanceRecord[];
  readonly pagination: CursorPagination;
}

/** @throws `validation_failed`, `conflicting_fields`, `query_too_costly` */
export async function queryInstances(
  { db, reading }: RuntimeContext,
  runQuery: RunQuery,
  deployment: SeenDeployment,
  asked: ListQuery,
  call: CallContext,
): Promise<QueriedList> {
  const { where, orderBy, atSeq, limit, count = false } = asked;
  if (asked.page !== undefined)
    throw new ServiceError(
      'conflicting_fields',
      'With where or orderBy, pages go by cursor: leave out page.',
    );
  const order = readOrder(orderBy);
  if (isOfAll(asked, order)) return reading.run(call.signal, () => listByKey(db, deployment.id, asked));
  const entitySchema = neededSchema(asked.entitySchema);
  const identity = [entitySchema, where, orderBy, atSeq];
  const query = { deploymentId: deployment.id, entitySchema, condition: readWhere(where), order };
  const page = { limit, after: readCursor(identity, order.length, asked.cursor) };
  const question = ['list', ...identity, limit, asked.cursor, count];
  const found = await runQuery({ deployment, atSeq, question }, call, async (db, work) => {
    if (atSeq !== undefined) return earlierPage(db, { ...query, seq: atSeq }, page, work);
    const now = await sourced(db, query);
    const rows = await queryPage(db, now, page, work);
    return { data: rows.map(recordOf), total: count ? await queryCount(db, now, work) : 0 };
  });
  return pageOf(asked, found, ({ instanceId: id, state }) =>
    writeCursor(identity, { id, values: orderValues(order, id, state) }),
  );
}

async function listByKey(db: Db, deploymentId: number, asked: ListQuery): Promise<QueriedList> {
  const { orderBy, limit, cursor, count } = asked;
  const identity = [orderBy];
  const place = readCursor(identity, 1, cursor);
  const after = place && { instanceId: place.id, entitySchema: String(place.values[0]) };
  const rows = await instancesByKey(db, deploymentId, limit + 1, after);
  const total = count ? ((await headOf(db, deploymentId)).totals['instances'] ?? 0) : 0;
  return pageOf(asked, { data: rows.map(recordOf), total }, ({ instanceId: id, entitySchema }) =>
    writeCursor(identity, { id, values: [entitySchema] }),
  );
}

/** A page of what was found, which is one instance more if there is one. */
function pageOf(
  { limit, count }: ListQuery,
  found: { readonly data: readonly InstanceRecord[]; readonly total: number },
  cursorAfter: (last: InstanceRecord) => string,
): QueriedList {
  const data = found.data.slice(0, limit);
  const last = found.data.length > limit ? data.at(-1) : undefined;
  const next = last === undefined ? null : cursorAfter(last);
  return { data, pagination: { limit, next, ...(count && { total: found.total }) } };
}

export function queryReads(context: RuntimeContext, runQuery: RunQuery): Handlers<typeof queryRpcs> {
  const { access, reading } = context;
  return {
    'instances.aggregate': async ({ params, query: asked }, call) => {
      const aggregation = readAggregation(asked);
      const { entitySchema, where, atSeq } = asked;
      const condition = readWhere(where);
      const deployment = await reading.run(call.signal, () => access.see(params, call.caller));
      const query: InstanceQuery = { deploymentId: deployment.id, entitySchema, condition, order: [] };
      const question = ['aggregate', asked];
      const groups = await runQuery({ deployment, atSeq, question }, call, async (db, work) =>
        atSeq === undefined
          ? queryGroups(db, await sourced(db, query), aggregation, work)
          : earlierGroups(db, { ...query, seq: atSeq }, aggregation, work),
      );
      const advice = await adviceOn(context, deployment, asked, call);
      return { data: answerOf(aggregation, groups), ...advice };
    },
    'instances.rank': async ({ params, query: asked }, call) => {
      const { entitySchema, orderBy, atSeq } = asked;
      const order = readOrder(orderBy);
      const deployment = await reading.run(call.signal, () => access.see(params, call.caller));
      const { instanceId } = params;
      const query = { deploymentId: deployment.id, entitySchema, condition: undefined, order };
      const path = { instanceId, entitySchema };
      const question = ['rank', instanceId, entitySchema, orderBy, atSeq];
      const place = await runQuery({ deployment, atSeq, question }, call, async (db, work) =>
        atSeq === undefined
          ? queryRank(db, await sourced(db, query), path)
          : earlierRank(db, { ...query, seq: atSeq }, path, work),
      );
      const advice = await adviceOn(context, deployment, asked, call);
      return { data: { entitySchema, instanceId, ...place }, ...advice };
    },
  };
}
