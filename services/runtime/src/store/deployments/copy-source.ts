import { type DeploymentSource, type EntryTimer, parseReference, ServiceError } from '@orrery/contracts';
import { tooManyInstances } from '@orrery/deciding';
import { sql } from 'kysely';
import { headOf } from '../journal/journal-store.js';
import { beginLifetimes, lifetimesAt } from '../journal/lifetimes.js';
import { snapshotAt, snapshotHashOf } from '../journal/past-states.js';
import { listBindings, type NewBinding } from '../state/bindings.js';
import { createdIn } from '../state/clone-order.js';
import type { Binding } from '../state/deployment-state.js';
import { IDS_PER_BLOCK } from '../state/id-blocks.js';
import { copyTimers } from '../state/timer-store.js';
import type { Db, Trx } from '../tables/schema.js';
import type { SchemaClaim } from './claim-store.js';

/** The source has changed since its schemas and versions were claimed: claim and copy again. */
export class SourceChanged extends Error {
  override readonly name = 'SourceChanged';
}

interface CloneTarget {
  readonly id: number;
  readonly partition: number;
  readonly at: Date;
  /** Id of the first entry of its journal. */
  readonly entryId: string;
}

export interface Copied {
  readonly source: DeploymentSource;
  readonly instances: number;
  readonly timers: readonly EntryTimer[];
}

/**
 * Copies into the new deployment what its source is in this transaction's one snapshot, so the transaction reads
 * repeatably. @throws SourceChanged, `unknown_deployment`, `limit_reached`
 */
export async function copySource(
  trx: Trx,
  copies: ClaimedCopies,
  target: CloneTarget,
  limits: { readonly instancesPerDeployment: number },
): Promise<Copied> {
  const { source, schemas } = copies;
  await refuseChanged(trx, copies);
  const { seq } = await headOf(trx, source.id);
  const instances = await copyInstances(trx, source, target);
  if (instances > limits.instancesPerDeployment) throw tooManyInstances(limits.instancesPerDeployment);
  await claimCopied(trx, target.id, schemas);
  await beginLifetimes(trx, target.id);
  const snapshotHash = await snapshotHashOf(trx, target.id);
  const timers = source.withTimers ? await copyTimers(trx, source.id, target) : [];
  return { source: { address: source.address, seq: source.seq ?? seq, snapshotHash }, instances, timers };
}

async function refuseChanged(trx: Trx, { source, sourceBindings }: ClaimedCopies): Promise<void> {
  const still = await trx
    .selectFrom('deployments')
    .select('id')
    .where('id', '=', source.id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (still === undefined) throw new ServiceError('unknown_deployment');
  const bindings = await listBindings(trx, source.id);
  if (JSON.stringify(bindings) !== JSON.stringify(sourceBindings)) throw new SourceChanged();
}

/** The catalog keeps the schemas of the copied instances for the clone too. */
async function claimCopied(trx: Trx, deploymentId: number, schemas: readonly SchemaClaim[]): Promise<void> {
  await sql`
    insert into claimed_schemas (deployment_id, entity_schema, schema_id, claim_revision)
    select ${deploymentId}, name, id, revision
    from jsonb_to_recordset(cast(${JSON.stringify(schemas)} as jsonb)) as claim (name text, id bigint, revision integer)
    where exists (select from instances i where i.deployment_id = ${deploymentId} and i.entity_schema = name)`.execute(
    trx,
  );
  const { rows } = await sql`
    select from instances where deployment_id = ${deploymentId} and not entity_schema = any(${schemas.map(({ name }) => name)})
    limit 1`.execute(trx);
  if (rows.length > 0) throw new SourceChanged();
}

const ROWS_PER_INSERT = 200;

/**
 * Copies the instances of a clone's source: first as kept states at seq 0, where the clone's past begins, then from
 * those as rows, each at revision 1. Answers how many.
 */
async function copyInstances(
  trx: Trx,
  source: CloneSource,
  target: { id: number; at: Date },
): Promise<number> {
  if (source.seq === undefined) await keepCurrent(trx, source.id, target.id);
  else await keepPast(trx, source.id, source.seq, target.id);
  return insertInstances(trx, source, target);
}

const keepCurrent = (trx: Trx, sourceId: number, targetId: number) =>
  sql`
    insert into kept_states (deployment_id, entity_schema, instance_id, seq, revision, state)
    select ${targetId}, entity_schema, instance_id, 0, 1, state
    from instances where deployment_id = ${sourceId}`.execute(trx);

async function keepPast(trx: Trx, sourceId: number, seq: number, targetId: number): Promise<void> {
  let rows: object[] = [];
  const flush = async () => {
    await sql`
      insert into kept_states (deployment_id, entity_schema, instance_id, seq, revision, state)
      select ${targetId}, "entitySchema", "instanceId", 0, 1, state
      from jsonb_to_recordset(cast(${JSON.stringify(rows)} as jsonb))
        as n ("entitySchema" text, "instanceId" text, state jsonb)`.execute(trx);
    rows = [];
  };
  for await (const instance of snapshotAt(trx, sourceId, seq)) {
    if (rows.push(instance) === ROWS_PER_INSERT) await flush();
  }
  if (rows.length > 0) await flush();
}

/**
 * The source's instances of now, or of then, with what their order is by. Those of now have ids in the order of creation, but
 * in a clone by an earlier release that has not been loaded since.
 */
const originals = ({ id, seq }: CloneSource) =>
  seq === undefined
    ? sql`select i.entity_schema, i.instance_id, ${sql.raw(createdIn('i'))}::integer as begun, i.id as place
        from instances i join deployments d on d.id = i.deployment_id where d.id = ${id}`
    : sql`select entity_schema, instance_id, created_seq as begun, place from (${lifetimesAt(id, seq)}) there`;

/**
 * The copies get ids in the order of creation of their originals, which is the order in which templates and lists have them.
 * Grouping brings both together: a join, planned without knowing how many were just written, may compare each with all.
 */
async function insertInstances(
  trx: Trx,
  source: CloneSource,
  { id, at }: { id: number; at: Date },
): Promise<number> {
  const { numAffectedRows } = await sql`
    with copies as (
      select entity_schema, instance_id,
        row_number() over (order by min(begun), min(place), entity_schema, instance_id) - 1 as position
      from (
        select n.*, false as is_copy from (${originals(source)}) n
        union all
        select entity_schema, instance_id, null, null, true from kept_states where deployment_id = ${id}
      ) named
      group by entity_schema, instance_id having bool_or(is_copy)
    ), taken as materialized (
      select nextval('id_blocks') as block
      from generate_series(1, (select (count(*) + ${IDS_PER_BLOCK - 1}) / ${IDS_PER_BLOCK} from copies))
    ), blocks as (
      select (block - 1) * ${IDS_PER_BLOCK} + 1 as first, row_number() over (order by block) - 1 as position from taken
    )
    insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
    select b.first + c.position % ${IDS_PER_BLOCK}, ${id}, c.entity_schema, c.instance_id, k.state, 1, ${at}, ${at}
    from copies c join blocks b on b.position = c.position / ${IDS_PER_BLOCK}
    cross join lateral (
      select state from kept_states k
      where k.deployment_id = ${id} and k.entity_schema = c.entity_schema and k.instance_id = c.instance_id offset 0) k`.execute(
    trx,
  );
  return Number(numAffectedRows ?? 0);
}

/** The deployment that a new one begins as a copy of. */
export interface CloneSource {
  readonly id: number;
  readonly address: string;
  /** What it began as a copy of itself. */
  readonly source: DeploymentSource | null;
  /** The entry after which the instances are taken, up to which lifetimes are computed; `undefined`: as they are now. */
  readonly seq: number | undefined;
  /** Its pending timers are copied. */
  readonly withTimers: boolean;
}

export async function readSource(
  db: Db,
  { worldId, ownerAccountId }: { worldId: number; ownerAccountId: number },
  given: string,
): Promise<Omit<CloneSource, 'seq' | 'withTimers'> | undefined> {
  const reference = parseReference(given);
  if (reference === undefined) return undefined;
  return db
    .selectFrom('deployments')
    .select(['id', 'address', 'source'])
    .where((where) =>
      'id' in reference ? where('id', '=', reference.id) : where('address', '=', reference.address),
    )
    .where('world_id', '=', worldId)
    .where('owner_account_id', '=', ownerAccountId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** What a clone takes over, claimed from the catalog for its own address before anything is copied. */
export interface ClaimedCopies {
  readonly source: CloneSource;
  /** The source's bindings as they were claimed; the copy is made only while they are still so. */
  readonly sourceBindings: readonly Binding[];
  readonly bindings: readonly NewBinding[];
  /** The claims on schemas that the copied instances may have. */
  readonly schemas: readonly SchemaClaim[];
}

interface Content {
  readonly names: string[];
  readonly instances: number;
}

export async function contentNow(db: Db, deploymentId: number): Promise<Content> {
  const { totals } = await headOf(db, deploymentId);
  return { names: await schemasNow(db, deploymentId), instances: totals['instances'] ?? 0 };
}

/** Each schema costs one probe of the index, however many instances it has. */
async function schemasNow(db: Db, deploymentId: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with recursive schemas (name) as (
      select min(entity_schema) from instances where deployment_id = ${deploymentId}
      union all
      select (select min(entity_schema) from instances
        where deployment_id = ${deploymentId} and entity_schema > schemas.name)
      from schemas where schemas.name is not null
    ) select name from schemas where name is not null`.execute(db);
  return rows.map(({ name }) => name);
}

/** The past does not change, so what is found holds for the copy. */
export async function contentAt(db: Db, deploymentId: number, seq: number): Promise<Content> {
  const names = new Set<string>();
  let instances = 0;
  for await (const { entitySchema } of snapshotAt(db, deploymentId, seq)) {
    names.add(entitySchema);
    instances += 1;
  }
  return { names: [...names], instances };
}
