import {
  type DeploymentSource,
  fieldProblem,
  type NewDeployment,
  parseReference,
  ServiceError,
} from '@orrery/contracts';
import { sql } from 'kysely';
import { type BindingClaims, type NewBinding, newBindings } from '../bindings/binding-rules.js';
import { listBindings } from '../bindings/binding-store.js';
import type { CatalogClient, SchemaClaim } from '../catalog/catalog-client.js';
import type { RuntimeLimits } from '../config.js';
import type { Db } from '../database/db.js';
import { tooManyInstances } from '../execution/check-changes.js';
import { type BrokenHistoryDependencies, type CallBounds, readPast } from '../journal/broken-history.js';
import { headOf } from '../journal/journal-store.js';
import { snapshotAt } from '../journal/snapshot.js';
import type { Binding } from '../state/deployment-state.js';

/** The deployment that a new one begins as a copy of. */
export interface CloneSource {
  readonly id: number;
  readonly address: string;
  /** What it began as a copy of itself. */
  readonly source: DeploymentSource | null;
  /** The entry after which the instances are taken; `undefined`: as they are now. */
  readonly seq: number | undefined;
}

/**
 * Finds the source of a clone: of the same world and account. What is foreign, deleted or elsewhere looks absent.
 * @throws `unknown_deployment`, `validation_failed` for a `sourceSeq` that its journal has not reached
 */
export async function findCloneSource(
  db: Db,
  home: { worldId: number; ownerAccountId: number },
  { sourceDeployment, sourceSeq }: NewDeployment,
): Promise<CloneSource | null> {
  if (sourceDeployment === undefined) {
    if (sourceSeq === undefined) return null;
    throw badSeq('It names an entry of the journal of `sourceDeployment`, which is missing.');
  }
  const source = await readSource(db, home, sourceDeployment);
  if (source === undefined) throw unknownDeployment();
  if (sourceSeq === undefined) return { ...source, seq: undefined };
  const { seq } = await headOf(db, source.id);
  if (sourceSeq > seq) throw badSeq(`The journal ends at ${seq}.`);
  return { ...source, seq: sourceSeq };
}

async function readSource(
  db: Db,
  { worldId, ownerAccountId }: { worldId: number; ownerAccountId: number },
  given: string,
): Promise<Omit<CloneSource, 'seq'> | undefined> {
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

const unknownDeployment = () =>
  new ServiceError('unknown_deployment', 'You have no such deployment in this world.', {
    errors: [
      fieldProblem('/sourceDeployment', 'unknown_deployment', 'You have no such deployment in this world.'),
    ],
  });

const badSeq = (message: string) =>
  new ServiceError('validation_failed', `/sourceSeq: ${message}`, {
    errors: [fieldProblem('/sourceSeq', 'out_of_range', message)],
  });

/** What a clone takes over, claimed from the catalog for its own address before anything is copied. */
export interface ClaimedCopies {
  readonly source: CloneSource;
  /** The source's bindings as they were claimed; the copy is made only while they are still so. */
  readonly sourceBindings: readonly Binding[];
  readonly bindings: readonly NewBinding[];
  /** The claims on schemas that the copied instances may have. */
  readonly schemas: readonly SchemaClaim[];
}

export interface CloneDependencies extends BindingClaims, BrokenHistoryDependencies {
  readonly db: Db;
  readonly catalog: Pick<CatalogClient, 'claimVersions' | 'claimSchemas'>;
  readonly limits: RuntimeLimits;
}

/** `explicit` bindings win over copied ones of the same event. @throws `limit_reached`, `unknown_entity_schema`, `history_broken` */
export async function claimCopies(
  dependencies: CloneDependencies,
  source: CloneSource,
  home: { address: string; worldId: number },
  explicit: readonly NewBinding[],
  { at, ...bounds }: CallBounds & { at: Date },
): Promise<ClaimedCopies> {
  const sourceBindings = await listBindings(dependencies.db, source.id);
  const own = new Set(explicit.map(({ binding }) => binding.event));
  const copied = sourceBindings.filter(({ event }) => !own.has(event));
  refuseTooMany(own.size + copied.length, dependencies.limits);
  const bindings = await newBindings(dependencies, home, copied, '/sourceDeployment', at);
  return {
    source,
    sourceBindings,
    bindings,
    schemas: await claimSchemas(dependencies, source, home, bounds),
  };
}

function refuseTooMany(count: number, { bindingsPerDeployment: limit }: RuntimeLimits): void {
  if (count <= limit) return;
  throw new ServiceError('limit_reached', `A deployment has at most ${limit} bindings.`, {
    facts: { limit, bindings: count },
  });
}

async function claimSchemas(
  dependencies: CloneDependencies,
  source: CloneSource,
  { address, worldId }: { address: string; worldId: number },
  bounds: CallBounds,
): Promise<readonly SchemaClaim[]> {
  const { db, catalog, limits } = dependencies;
  const { id, seq } = source;
  const { names, instances } = await (seq === undefined
    ? contentNow(db, id)
    : readPast(dependencies, source, seq, bounds, () => contentAt(db, id, seq)));
  if (instances > limits.instancesPerDeployment) throw tooManyInstances(limits.instancesPerDeployment);
  if (names.length === 0) return [];
  return catalog.claimSchemas({ address, world_id: worldId }, names).catch(asOfSource);
}

/** The past may have instances of a schema that no longer exists. */
function asOfSource(error: unknown): never {
  if (!(error instanceof ServiceError) || error.code !== 'unknown_entity_schema') throw error;
  const message = 'The source had instances of an entity schema that no longer exists.';
  throw new ServiceError(error.code, message, {
    errors: [fieldProblem('/sourceSeq', error.code, message)],
    cause: error,
  });
}

/** Which schemas there are instances of, and how many instances in all. */
interface Content {
  readonly names: string[];
  readonly instances: number;
}

async function contentNow(db: Db, deploymentId: number): Promise<Content> {
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
async function contentAt(db: Db, deploymentId: number, seq: number): Promise<Content> {
  const names = new Set<string>();
  let instances = 0;
  for await (const { entitySchema } of snapshotAt(db, deploymentId, seq)) {
    names.add(entitySchema);
    instances += 1;
  }
  return { names: [...names], instances };
}
