import { type InstanceRecord, MAX_GROUPS } from '@orrery/contracts';
import { compareInOrder, type OrderKey, orderValues } from '@orrery/expressions';
import { sql } from 'kysely';
import { type Aggregation, createGathering, type Group } from '../../../core/queries/aggregate.js';
import { type Place, tooManyGroups } from '../../../core/queries/read-query.js';
import { instancesThen } from '../../journal/lifetimes.js';
import { named, pastStates } from '../../journal/past-states.js';
import type { Db } from '../../tables/schema.js';
import { type InstancePath, instanceNotFound } from '../instance-store.js';
import { recordsAt } from '../past-instances.js';
import type { QueriedPage } from './present-instances.js';
import type { InstanceQuery } from './query-source.js';
import type { QueryWork, Seen } from './query-work.js';

/** A query over the instances as they were after entry `seq`, up to which lifetimes have been computed. */
export interface EarlierQuery extends InstanceQuery {
  readonly seq: number;
}

const ID: OrderKey = { path: null, isDescending: false };

const compare =
  (order: readonly OrderKey[]) =>
  (a: Place, b: Place): number =>
    compareInOrder(order, a.values, b.values) || compareInOrder([ID], [a.id], [b.id]);

/** A page of those that satisfy the condition, one instance more if there is one, and how many there are. */
export async function earlierPage(
  db: Db,
  query: EarlierQuery,
  { limit, after }: QueriedPage,
  work: QueryWork,
): Promise<{ data: InstanceRecord[]; total: number }> {
  const inOrder = compare(query.order);
  const places = await placesOf(db, query, work);
  const behind = after === undefined ? places : places.filter((place) => inOrder(place, after) > 0);
  const names = behind
    .sort(inOrder)
    .slice(0, limit + 1)
    .map(({ id }) => ({ entitySchema: query.entitySchema, instanceId: id }));
  return { data: await recordsAt(db, query.deploymentId, names, query.seq), total: places.length };
}

/** @throws `entity_instance_not_found` where it was not there then */
export async function earlierRank(
  db: Db,
  query: EarlierQuery,
  path: InstancePath,
  work: QueryWork,
): Promise<{ rank: number; total: number }> {
  const places = await placesOf(db, query, work);
  const own = places.find(({ id }) => id === path.instanceId);
  if (own === undefined) throw instanceNotFound(path);
  const inOrder = compare(query.order);
  return { rank: places.filter((place) => inOrder(place, own) < 0).length + 1, total: places.length };
}

async function placesOf(db: Db, query: EarlierQuery, work: QueryWork): Promise<Place[]> {
  const places: Place[] = [];
  for await (const found of satisfying(db, query, work))
    for (const { instanceId: id, state } of found)
      places.push({ id, values: orderValues(query.order, id, state) });
  return places;
}

/** @throws `query_too_costly` for too many groups */
export async function earlierGroups(
  db: Db,
  query: EarlierQuery,
  aggregation: Aggregation,
  work: QueryWork,
): Promise<Group[]> {
  const gathering = createGathering(aggregation);
  for await (const found of satisfying(db, query, work)) {
    for (const { state } of found) gathering.add(state);
    if (gathering.size() > MAX_GROUPS) throw tooManyGroups();
  }
  return gathering.groups();
}

/** Names read at once, and states: those that have changed since are folded from up to 100 changes each. */
const NAMES_AT_ONCE = 5000;
const STATES_AT_ONCE = 200;
const FOLDED_AT_ONCE = 50;

async function* satisfying(db: Db, query: EarlierQuery, work: QueryWork): AsyncGenerator<Seen[]> {
  const { deploymentId, entitySchema, condition, seq } = query;
  const conditions = condition === undefined ? [] : [condition];
  for (let page = 1; ; page += 1) {
    const { names, total } = await instancesThen(db, deploymentId, seq, entitySchema, {
      page,
      limit: NAMES_AT_ONCE,
    });
    for (let first = 0; first < names.length; first += STATES_AT_ONCE) {
      const ids = names.slice(first, first + STATES_AT_ONCE).map(({ instanceId }) => instanceId);
      yield work.filter(await seenAt(db, query, ids, work), conditions);
    }
    if (page * NAMES_AT_ONCE >= total) return;
  }
}

/** What no entry after `seq` has changed stands as it does now. */
async function seenAt(
  db: Db,
  { deploymentId, entitySchema, seq }: EarlierQuery,
  ids: readonly string[],
  work: QueryWork,
): Promise<Seen[]> {
  const names = ids.map((instanceId) => ({ entitySchema, instanceId }));
  const { rows } = await sql<Seen>`
    select i.instance_id as "instanceId", i.state from ${named(names)}
    join instances i on i.deployment_id = ${deploymentId} and i.entity_schema = n.entity_schema
      and i.instance_id = n.instance_id
    where not exists (select from instance_changes c where c.deployment_id = ${deploymentId}
      and c.entity_schema = n.entity_schema and c.instance_id = n.instance_id and c.seq > ${seq})`.execute(
    db,
  );
  const unchanged = new Set(rows.map(({ instanceId }) => instanceId));
  const changed = names.filter(({ instanceId }) => !unchanged.has(instanceId));
  for (let first = 0; first < changed.length; first += FOLDED_AT_ONCE) {
    work.check();
    const some = changed.slice(first, first + FOLDED_AT_ONCE);
    const states = await pastStates(db, deploymentId, some, seq);
    for (const [at, { instanceId }] of some.entries()) {
      const past = states[at];
      if (past) rows.push({ instanceId, state: past.state });
    }
  }
  return rows;
}
