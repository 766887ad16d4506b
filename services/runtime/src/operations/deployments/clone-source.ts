import { type CallContext, fieldProblem, type NewDeployment, ServiceError } from '@orrery/contracts';
import { tooManyInstances } from '@orrery/deciding';
import type { SchemaClaim } from '../../store/deployments/claim-store.js';
import {
  type ClaimedCopies,
  type CloneSource,
  contentAt,
  contentNow,
  readSource,
} from '../../store/deployments/copy-source.js';
import { computedTo } from '../../store/deployments/past-instances.js';
import { headOf } from '../../store/journal/journal-store.js';
import { readPast } from '../../store/journal/verify/verify-journal.js';
import { listBindings, type NewBinding } from '../../store/state/bindings.js';
import type { Db } from '../../store/tables/schema.js';
import { newBindings } from '../bindings/binding-rules.js';
import type { RuntimeContext } from '../context.js';

/**
 * Finds the source of a clone: of the same world and account. What is foreign, deleted or elsewhere looks absent.
 * @throws `unknown_deployment`, `validation_failed` for a `sourceSeq` that its journal has not reached
 */
export async function findCloneSource(
  db: Db,
  home: { worldId: number; ownerAccountId: number },
  { sourceDeployment, sourceSeq, sourceTimers = false }: NewDeployment,
): Promise<CloneSource | null> {
  if (sourceTimers && (sourceDeployment === undefined || sourceSeq !== undefined)) throw badTimers();
  if (sourceDeployment === undefined) {
    if (sourceSeq === undefined) return null;
    throw badSeq('It names an entry of the journal of `sourceDeployment`, which is missing.');
  }
  const source = await readSource(db, home, sourceDeployment);
  if (source === undefined) throw unknownDeployment();
  if (sourceSeq === undefined) return { ...source, seq: undefined, withTimers: sourceTimers };
  const { seq } = await headOf(db, source.id);
  if (sourceSeq > seq) throw badSeq(`The journal ends at ${seq}.`);
  return { ...source, seq: sourceSeq, withTimers: false };
}

function unknownDeployment(): ServiceError {
  const message = 'You have no such deployment in this world.';
  const errors = [fieldProblem('/sourceDeployment', 'unknown_deployment', message)];
  return new ServiceError('unknown_deployment', message, { errors });
}

const NO_TIMERS =
  'It copies the timers that are pending now: with `sourceDeployment`, and without `sourceSeq`.';

const badTimers = () =>
  new ServiceError('validation_failed', `/sourceTimers: ${NO_TIMERS}`, {
    errors: [fieldProblem('/sourceTimers', 'invalid', NO_TIMERS)],
  });

const badSeq = (message: string) =>
  new ServiceError('validation_failed', `/sourceSeq: ${message}`, {
    errors: [fieldProblem('/sourceSeq', 'out_of_range', message)],
  });

/** `explicit` bindings win over copied ones of the same event; a what-if fork copies none. @throws `limit_reached`, `unknown_entity_schema`, `history_broken` */
export async function claimCopies(
  context: RuntimeContext,
  source: CloneSource,
  { isFork, ...home }: { address: string; worldId: number; isFork: boolean },
  explicit: readonly NewBinding[],
  at: Date,
  call: CallContext,
): Promise<ClaimedCopies> {
  const sourceBindings = await listBindings(context.db, source.id);
  const own = new Set(explicit.map(({ binding }) => binding.event));
  const copied = isFork ? [] : sourceBindings.filter(({ event }) => !own.has(event));
  refuseTooMany(own.size + copied.length, context.limits);
  const bindings = await newBindings(context, home, copied, '/sourceDeployment', at);
  return {
    source,
    sourceBindings,
    bindings,
    schemas: await claimSchemas(context, source, home, call),
  };
}

function refuseTooMany(count: number, { bindingsPerDeployment: limit }: RuntimeContext['limits']): void {
  if (count <= limit) return;
  throw new ServiceError('limit_reached', `A deployment has at most ${limit} bindings.`, {
    facts: { limit, bindings: count },
  });
}

async function claimSchemas(
  context: RuntimeContext,
  source: CloneSource,
  { address, worldId }: { address: string; worldId: number },
  call: CallContext,
): Promise<readonly SchemaClaim[]> {
  const { db, catalog, limits } = context;
  const { id, seq } = source;
  const { names, instances } = await (seq === undefined
    ? contentNow(db, id)
    : readPast(context, source, seq, call, async () => {
        // The copies take over the order of creation.
        await computedTo(context, id, seq, call.signal);
        return contentAt(db, id, seq);
      }));
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
