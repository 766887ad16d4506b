import {
  cutText,
  type InstanceRecord,
  isMatch,
  type JsonObject,
  MOST_LOOKED_AT,
  type PageQuery,
  ServiceError,
  spaceAround,
} from '@orrery/contracts';
import { countUpTo, type PreparedStatement, page, prepared } from '@orrery/database';
import type { InstanceName } from '@orrery/deciding';
import { createBatcher } from '@orrery/service-kit';
import { sql } from 'kysely';
import { headOf } from '../journal/journal-store.js';
import type { MemoryInstance } from '../state/instance-memory.js';
import type { Db } from '../tables/schema.js';

/** An instance by its key, and by its schema where several schemas have an instance of this key. */
export interface InstancePath {
  readonly instanceId: string;
  readonly entitySchema: string | undefined;
}

export const toRecord = (
  { entitySchema, instanceId }: InstanceName,
  { id, state, revision, createdAt, updatedAt }: MemoryInstance,
): InstanceRecord => ({
  id,
  entitySchema,
  instanceId,
  state,
  revision,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

/** No instance has this key. A space at its end is easily overlooked. */
export function instanceNotFound({
  instanceId,
  entitySchema,
}: {
  readonly instanceId: string;
  readonly entitySchema?: string | undefined;
}): ServiceError {
  const ofSchema = entitySchema === undefined ? '' : ` of "${cutText(entitySchema, 255)}"`;
  const hint = instanceId.trim() === instanceId ? keyHint(instanceId) : ` ${spaceAround(instanceId)}`;
  return new ServiceError(
    'entity_instance_not_found',
    `The deployment has no instance "${cutText(instanceId, 255)}"${ofSchema}.${hint}`,
  );
}

/** For who has put the schema before the key, as changes do (`horse:HORSE_1`); a key may hold a colon, so it is only a hint. */
function keyHint(instanceId: string): string {
  const [, schema, key] = /^([^:]+):(.+)$/s.exec(instanceId) ?? [];
  if (schema === undefined || key === undefined) return '';
  const [path, query] = [key, schema].map((part) => encodeURIComponent(cutText(part, 255)));
  return ` A path takes the instanceId alone: …/entity-instances/${path}?entitySchema=${query}.`;
}

/** The one schema that has an instance of this key. @throws `entity_instance_not_found`, `ambiguous_instance` */
export function onlySchema(
  schemas: readonly string[],
  path: { readonly instanceId: string; readonly entitySchema?: string | undefined },
): string {
  const [only, ...others] = schemas;
  if (only === undefined) throw instanceNotFound(path);
  if (others.length === 0) return only;
  throw new ServiceError(
    'ambiguous_instance',
    `Several schemas have an instance of this key. Name one of ${schemas.join(', ')} in entitySchema.`,
    {
      facts: { entitySchemas: [...schemas] },
    },
  );
}

/** @throws `revision_mismatch` unless the instance has this revision. */
export function refuseOtherRevision(ifMatch: string | undefined, revision: number): void {
  if (isMatch(ifMatch, String(revision))) return;
  throw new ServiceError('revision_mismatch', `The instance has revision ${revision}.`, {
    facts: { revision },
  });
}

/** Pointers of the checks begin with `/schema:instanceId`; in the body of a manual write that is `/state`. */
export function inBody<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const errors = error.errors.map((problem) => ({
      ...problem,
      pointer: problem.pointer.replace(/^\/[^/]*/, '/state'),
    }));
    const [first] = errors;
    const detail = first === undefined ? error.message : `${first.pointer}: ${first.message}`;
    throw new ServiceError(error.code, detail, { errors, cause: error });
  }
}

/** An instance as committed. */
export type InstanceRow = InstanceName & MemoryInstance;

export const recordOf = (row: InstanceRow): InstanceRecord => toRecord(row, row);

/** Schemas that, as committed, have an instance of this key; at most as many as a deployment may bind. */
export async function schemasWith(db: Db, deploymentId: number, instanceId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('instances')
    .select('entity_schema')
    .where('deployment_id', '=', deploymentId)
    .where('instance_id', '=', instanceId)
    .orderBy('entity_schema')
    .limit(500)
    .execute();
  return rows.map(({ entity_schema }) => entity_schema);
}

/**
 * Schemas that have instances, in alphabetical order: each is found from the one before it by the index, so that it costs as
 * many look-ups as there are schemas, however many instances they have.
 */
export async function schemasInUse(db: Db, deploymentId: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with recursive used (name) as (
      (select entity_schema from instances where deployment_id = ${deploymentId} order by entity_schema limit 1)
      union all
      select (
        select entity_schema from instances
        where deployment_id = ${deploymentId} and entity_schema > used.name order by entity_schema limit 1
      ) from used where used.name is not null
    )
    select name from used where name is not null order by name limit 500`.execute(db);
  return rows.map(({ name }) => name);
}

const INSTANCE_COLUMNS = [
  'id',
  'entity_schema as entitySchema',
  'instance_id as instanceId',
  'state',
  'revision',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const;

/** A page in order of creation. The unfiltered total is a counter; of one schema it is counted up to 10,000. */
export async function listInstances(
  db: Db,
  deploymentId: number,
  entitySchema: string | undefined,
  query: PageQuery,
): Promise<{ rows: InstanceRow[]; total: number; isMinimum: boolean }> {
  const all = db.selectFrom('instances').where('deployment_id', '=', deploymentId);
  const some = entitySchema === undefined ? all : all.where('entity_schema', '=', entitySchema);
  const rows = await page(some.select(INSTANCE_COLUMNS).orderBy('id'), query).execute();
  if (entitySchema !== undefined) return { rows, ...(await countUpTo(db, some)) };
  const { totals } = await headOf(db, deploymentId);
  return { rows, total: totals['instances'] ?? 0, isMinimum: false };
}

/** At most `limit` instances of all schemas, in the order of their keys and then of their schemas, behind one of them. */
export async function instancesByKey(
  db: Db,
  deploymentId: number,
  limit: number,
  after: InstanceName | undefined,
): Promise<InstanceRow[]> {
  const all = db.selectFrom('instances').where('deployment_id', '=', deploymentId);
  const behind =
    after === undefined
      ? all
      : all.where(sql<boolean>`(instance_id, entity_schema) > (${after.instanceId}, ${after.entitySchema})`);
  return behind
    .select(INSTANCE_COLUMNS)
    .orderBy('instance_id')
    .orderBy('entity_schema')
    .limit(limit)
    .execute();
}

/** An instance of a deployment by its key, and by its schema where it is known. */
interface CurrentRead {
  readonly deploymentId: number;
  readonly instanceId: string;
  readonly entitySchema: string | undefined;
}

/** What is committed now. A deployment that was deleted has no answer. */
interface Current {
  readonly isPublic: boolean;
  readonly instance: InstanceRow | undefined;
}

type CurrentRow = { place: number; is_public: boolean } & {
  [Member in keyof InstanceRow]: InstanceRow[Member] | null;
};

/**
 * Each place is looked up by itself, so the plan stays one of look-ups by key. A second row says that several schemas
 * have an instance of the key.
 */
export const CURRENT_INSTANCES = `
select w.place, d.is_public, i.*
from unnest($1::bigint[], $2::text[], $3::text[]) with ordinality as w (deployment_id, instance_id, entity_schema, place)
join lateral (
  select is_public from deployments where id = w.deployment_id and deleted_at is null limit 1
) d on true
left join lateral (
  select id, entity_schema as "entitySchema", instance_id as "instanceId", state, revision,
    created_at as "createdAt", updated_at as "updatedAt" from instances
  where deployment_id = w.deployment_id and instance_id = w.instance_id
    and (w.entity_schema is null or entity_schema = w.entity_schema) limit 2
) i on true`;

const currentInstances: PreparedStatement<CurrentRow> = prepared('current-instances', CURRENT_INSTANCES);

/** States have up to 64 KiB. */
const AT_ONCE = 64;
const MAX_WAITING = 2000;

/**
 * Reads instances as committed, many with one statement: what is asked while one is under way shares the next.
 * @throws `ambiguous_instance`; `overloaded` when too many wait
 */
export function createReadCurrent(db: Db) {
  const read = createBatcher<CurrentRead, CurrentRow[]>({
    maxBatch: AT_ONCE,
    maxWaiting: MAX_WAITING,
    // Both names may hold any character.
    keyOf: ({ deploymentId, entitySchema, instanceId }) =>
      JSON.stringify([deploymentId, entitySchema, instanceId]),
    load: (reads) => readAll(db, reads),
  });
  return async (wanted: CurrentRead): Promise<Current | undefined> => {
    const [row, second] = await read(wanted);
    if (row === undefined) return undefined;
    if (second !== undefined)
      onlySchema(await schemasWith(db, wanted.deploymentId, wanted.instanceId), wanted);
    return { isPublic: row.is_public, instance: row.id === null ? undefined : (row as InstanceRow) };
  };
}

async function readAll(db: Db, reads: readonly CurrentRead[]): Promise<CurrentRow[][]> {
  const rows = await currentInstances(db, [
    reads.map(({ deploymentId }) => deploymentId),
    reads.map(({ instanceId }) => instanceId),
    reads.map(({ entitySchema }) => entitySchema ?? null),
  ]);
  const found: CurrentRow[][] = reads.map(() => []);
  for (const row of rows) found[row.place - 1]?.push(row);
  return found;
}

export interface LookedAt {
  readonly id: number;
  readonly instanceId: string;
  readonly state: JsonObject;
  readonly revision: number;
}

/** Bytes of the states that one request looks at. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Instances of a schema in the order of their creation, from the one after `after` on, and after which to go on. */
export async function lookAtInstances(
  db: Db,
  deploymentId: number,
  entitySchema: string,
  after: number,
): Promise<{ found: LookedAt[]; next: string | null }> {
  const { rows } = await sql<LookedAt & { readonly all: number }>`
    select id, "instanceId", state, revision, "all" from (
      select i.id, i.instance_id as "instanceId", i.state, i.revision, count(*) over () as "all",
        sum(octet_length(i.state::text)) over (order by i.id rows unbounded preceding) as bytes
      from (select * from instances where deployment_id = ${deploymentId} and entity_schema = ${entitySchema}
        and id > ${after} order by id limit ${MOST_LOOKED_AT + 1}) i) i
    where bytes <= ${MOST_BYTES} order by id limit ${MOST_LOOKED_AT}`.execute(db);
  const found = rows.map(({ all: _, ...instance }) => instance);
  return { found, next: found.length < (rows[0]?.all ?? 0) ? String(found.at(-1)?.id) : null };
}
