import { fieldProblem, MAX_BINDINGS, ServiceError } from '@orrery/contracts';
import { sql } from 'kysely';
import { type NewBinding, newBindings } from '../../bindings/binding-rules.js';
import { listBindings } from '../../bindings/binding-store.js';
import type { RuntimeContext } from '../../context.js';
import type { Db } from '../../database/db.js';
import { tooManyInstances } from '../../execution/check-changes.js';
import { headOf } from '../../journal/journal-store.js';
import { snapshotAt } from '../../journal/snapshot.js';
import type { Binding } from '../../state/deployment-state.js';
import type { CloneSource } from './clone-source.js';

/** What a clone takes over, claimed from the catalog for its own address before anything is copied. */
export interface ClaimedCopies {
  readonly source: CloneSource;
  /** The source's bindings as they were claimed; the copy is made only while they are still so. */
  readonly sourceBindings: readonly Binding[];
  readonly bindings: readonly NewBinding[];
  /** Schemas that the copied instances may have, with their ids. */
  readonly schemas: ReadonlyMap<string, number>;
}

type Parts = Pick<RuntimeContext, 'db' | 'catalog' | 'chains' | 'ids' | 'limits'>;

/** `explicit` bindings win over copied ones of the same event. @throws `limit_reached`, `unknown_entity_schema` */
export async function claimCopies(
  parts: Parts,
  source: CloneSource,
  home: { address: string; worldId: number },
  explicit: readonly NewBinding[],
  at: Date,
): Promise<ClaimedCopies> {
  const sourceBindings = await listBindings(parts.db, source.id);
  const own = new Set(explicit.map(({ binding }) => binding.event));
  const copied = sourceBindings.filter(({ event }) => !own.has(event));
  refuseTooMany(own.size + copied.length);
  const bindings = await newBindings(parts, home, copied, '/sourceDeployment', at);
  return { source, sourceBindings, bindings, schemas: await claimSchemas(parts, source, home) };
}

function refuseTooMany(count: number): void {
  if (count <= MAX_BINDINGS) return;
  throw new ServiceError('limit_reached', `a deployment has at most ${MAX_BINDINGS} bindings`, {
    facts: { limit: MAX_BINDINGS, bindings: count },
  });
}

async function claimSchemas(
  { db, catalog, limits }: Parts,
  source: CloneSource,
  { address, worldId }: { address: string; worldId: number },
): Promise<Map<string, number>> {
  const { names, instances } = await (source.seq === undefined
    ? contentNow(db, source.id)
    : contentAt(db, source.id, source.seq));
  if (instances > limits.instancesPerDeployment) throw tooManyInstances(limits.instancesPerDeployment);
  if (names.length === 0) return new Map();
  const claimed = await catalog.claimSchemas({ address, world_id: worldId }, names).catch(asOfSource);
  return new Map(claimed.map(({ name, schemaId }) => [name, schemaId]));
}

/** The past may have instances of a schema that is no more. */
function asOfSource(error: unknown): never {
  if (!(error instanceof ServiceError) || error.code !== 'unknown_entity_schema') throw error;
  const message = 'it had instances of an entity schema that is no more';
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
