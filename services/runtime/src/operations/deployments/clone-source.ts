import { fieldProblem, type NewDeployment, ServiceError } from '@orrery/contracts';
import { tooManyInstances } from '../../core/deciding/check-changes.js';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import type { SchemaClaim } from '../../store/deployments/claim-store.js';
import {
  type ClaimedCopies,
  type CloneSource,
  contentAt,
  contentNow,
  readSource,
} from '../../store/deployments/copy-source.js';
import type { RuntimeLimits } from '../../store/deployments/deployment-directory.js';
import { headOf } from '../../store/journal/journal-store.js';
import {
  type BrokenHistoryDependencies,
  type CallBounds,
  readPast,
} from '../../store/journal/verify/verify-journal.js';
import { listBindings, type NewBinding } from '../../store/state/bindings.js';
import type { Db } from '../../store/tables/schema.js';
import { type BindingClaims, newBindings } from '../bindings/binding-rules.js';

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
