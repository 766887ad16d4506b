import { type InstanceRecord, type PageQuery, ServiceError } from '@orrery/contracts';
import type { InstanceName } from '@orrery/deciding';
import type { Semaphore } from '@orrery/service-kit';
import { sql } from 'kysely';
import { headOf } from '../journal/journal-store.js';
import { type ComputeLifetimes, computedUntil, instancesThen } from '../journal/lifetimes.js';
import { named, type PastState, pastStates } from '../journal/past-states.js';
import type { Db } from '../tables/schema.js';
import { type InstancePath, instanceNotFound, onlySchema, schemasWith } from './instance-store.js';

/** An instance as it was after entry `seq`. @throws `entity_instance_not_found`, `ambiguous_instance` */
export async function instanceAt(
  db: Db,
  deploymentId: number,
  { instanceId, entitySchema }: InstancePath,
  seq: number,
): Promise<InstanceRecord> {
  await headFrom(db, deploymentId, seq);
  const schemas =
    entitySchema === undefined ? await schemasEverWith(db, deploymentId, instanceId) : [entitySchema];
  const names = schemas.map((schema) => ({ entitySchema: schema, instanceId }));
  const states = await pastStates(db, deploymentId, names, seq);
  const schema = onlySchema(
    schemas.filter((_, index) => states[index] !== null),
    { instanceId, entitySchema },
  );
  const past = states[schemas.indexOf(schema)];
  if (!past) throw instanceNotFound({ instanceId, entitySchema });
  const name = { entitySchema: schema, instanceId };
  const [row] = await rowsNow(db, deploymentId, [name]);
  return pastRecord(name, past, row);
}

/** States have up to 64 KiB, and each is folded from up to 100 changes. */
const FOLDED_AT_ONCE = 50;

export interface PastListDependencies {
  readonly db: Db;
  readonly computeLifetimes: ComputeLifetimes;
  /** Bounds how many reads run at once. */
  readonly reading: Semaphore;
}

interface PastList {
  readonly entitySchema: string | undefined;
  readonly seq: number;
  readonly page: PageQuery;
}

/**
 * A page of the instances as they were after entry `seq`, in order of creation, with their total. It takes no slot of the
 * other reads while lifetimes are computed. @throws `entity_instance_not_found` beyond the end of the journal
 */
export async function instancesAt(
  { db, computeLifetimes, reading }: PastListDependencies,
  deploymentId: number,
  { entitySchema, seq, page }: PastList,
  signal: AbortSignal,
): Promise<{ data: InstanceRecord[]; total: number }> {
  await computedTo({ db, computeLifetimes, reading }, deploymentId, seq, signal);
  return reading.run(signal, async () => {
    const { names, total } = await instancesThen(db, deploymentId, seq, entitySchema, page);
    const data: InstanceRecord[] = [];
    for (let first = 0; first < names.length; first += FOLDED_AT_ONCE)
      data.push(...(await recordsAt(db, deploymentId, names.slice(first, first + FOLDED_AT_ONCE), seq)));
    return { data, total };
  });
}

/** Has the lifetimes up to `seq` computed. @throws `entity_instance_not_found` beyond the end of the journal */
export async function computedTo(
  { db, computeLifetimes, reading }: PastListDependencies,
  deploymentId: number,
  seq: number,
  signal: AbortSignal,
): Promise<void> {
  const { head, done } = await reading.run(signal, async () => ({
    head: await headFrom(db, deploymentId, seq),
    done: await computedUntil(db, deploymentId),
  }));
  if (done === undefined || done < seq) await computeLifetimes(deploymentId, { seq, head }, signal);
}

/** The instances as they were after entry `seq`, in the order of the names. */
export async function recordsAt(
  db: Db,
  deploymentId: number,
  names: readonly InstanceName[],
  seq: number,
): Promise<InstanceRecord[]> {
  const [states, rows] = await Promise.all([
    pastStates(db, deploymentId, names, seq),
    rowsNow(db, deploymentId, names),
  ]);
  return names.map((name, index) => {
    const past = states[index];
    if (!past)
      throw new RangeError(`the journal says that ${name.instanceId} was there, and has no state of it`);
    return pastRecord(name, past, rows[index]);
  });
}

async function headFrom(db: Db, deploymentId: number, seq: number): Promise<number> {
  const { seq: head } = await headOf(db, deploymentId);
  if (seq > head) throw new ServiceError('entity_instance_not_found', `The journal ends at ${head}.`);
  return head;
}

interface RowNow {
  readonly id: number | null;
  readonly created_at: Date | null;
}

async function rowsNow(db: Db, deploymentId: number, names: readonly InstanceName[]): Promise<RowNow[]> {
  const { rows } = await sql<RowNow>`
    select i.id, i.created_at
    from ${named(names)}
    left join lateral (
      select id, created_at from instances where deployment_id = ${deploymentId}
        and entity_schema = n.entity_schema and instance_id = n.instance_id limit 1) i on true
    order by n.position`.execute(db);
  return rows;
}

/**
 * The id and the time of creation are those of the row that the instance has now; one that is gone shows the time of the
 * last change as both times, and id 0.
 */
function pastRecord(
  { entitySchema, instanceId }: InstanceName,
  { state, revision, changedAt }: PastState,
  now: RowNow | undefined,
): InstanceRecord {
  const at = changedAt ?? now?.created_at ?? new Date(0);
  return {
    id: now?.id ?? 0,
    entitySchema,
    instanceId,
    state,
    revision,
    createdAt: (now?.created_at ?? at).toISOString(),
    updatedAt: at.toISOString(),
  };
}

/** Schemas that have or had an instance of this key; reads each schema once, not each change. */
async function schemasEverWith(db: Db, deploymentId: number, instanceId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with recursive schemas (name) as (
      select min(entity_schema) from instance_changes where deployment_id = ${deploymentId}
      union all
      select (select min(entity_schema) from instance_changes
        where deployment_id = ${deploymentId} and entity_schema > schemas.name)
      from schemas where schemas.name is not null
    )
    select name from schemas where exists (select from instance_changes
      where deployment_id = ${deploymentId} and entity_schema = name and instance_id = ${instanceId})`.execute(
    db,
  );
  const now = await schemasWith(db, deploymentId, instanceId);
  return [...new Set([...rows.map(({ name }) => name), ...now])].sort();
}
