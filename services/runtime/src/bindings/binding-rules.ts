import {
  type BindingInput,
  type BindingRecord,
  fieldProblem,
  type JsonObject,
  ServiceError,
  type VersionDefinition,
} from '@orrery/contracts';
import type { RuntimeContext } from '../context.js';
import type { Binding } from '../state/deployment-state.js';

/** A binding about to be made, and what the journal says of it. */
export interface NewBinding {
  readonly binding: Binding;
  readonly facts: JsonObject;
}

export const toRecord = (binding: Binding): BindingRecord => ({
  id: binding.id,
  event: binding.event,
  eventVersion: binding.eventVersion,
  targetChains: binding.targetChains,
  onchain: binding.onchain,
  createdAt: binding.createdAt.toISOString(),
  updatedAt: binding.updatedAt.toISOString(),
});

/** What the journal says of a binding. */
export const factsOf = ({ event, eventVersion, targetChains, onchain }: Binding): JsonObject => ({
  event,
  eventVersion,
  targetChains,
  onchain: onchain as JsonObject | null,
});

/** @throws `duplicate_event` naming every repetition (interface §7). */
export function refuseDuplicates(bindings: readonly { event: string }[], at: string): void {
  const seen = new Set<string>();
  const errors = bindings.flatMap(({ event }, index) => {
    if (!seen.has(event)) {
      seen.add(event);
      return [];
    }
    return [fieldProblem(`${at}/${index}/event`, 'duplicate_event', `"${event}" appears twice`)];
  });
  if (errors.length > 0) throw new ServiceError('duplicate_event', errors[0]?.message, { errors });
}

/** @throws `unknown_chain` for a name that the operator has not configured. */
export function refuseUnknownChains(
  chains: ReadonlySet<string>,
  bindings: readonly { targetChains?: readonly string[] | undefined }[],
  at: string,
): void {
  const errors = bindings.flatMap(({ targetChains = [] }, index) =>
    targetChains.flatMap((chain, place) =>
      chains.has(chain)
        ? []
        : [
            fieldProblem(
              `${at}/${index}/targetChains/${place}`,
              'unknown_chain',
              `no chain is named "${chain}"`,
            ),
          ],
    ),
  );
  if (errors.length > 0) throw new ServiceError('unknown_chain', errors[0]?.message, { errors });
}

/** Claims the versions and makes the bindings; pointers of errors begin with `at`. */
export async function newBindings(
  { catalog, chains, ids }: Pick<RuntimeContext, 'catalog' | 'chains' | 'ids'>,
  deployment: { address: string; worldId: number },
  given: readonly BindingInput[],
  at: string,
  now: Date,
): Promise<NewBinding[]> {
  refuseDuplicates(given, at);
  refuseUnknownChains(chains, given, at);
  const versions = given.map(({ event, eventVersion: version }) => ({ event, version }));
  const definitions = await claimAt(at, () => catalog.claimVersions(deployment, versions));
  const newIds = await ids.take(given.length);
  return given.map((input, index) => {
    const binding = bindingOf(input, definitions[index], newIds[index], now);
    return { binding, facts: factsOf(binding) };
  });
}

function bindingOf(
  { event, eventVersion, targetChains, onchain }: BindingInput,
  definition: VersionDefinition | undefined,
  id: number | undefined,
  at: Date,
): Binding {
  if (definition === undefined || id === undefined) throw new Error('the catalog left out a claimed version');
  return {
    id,
    event,
    versionId: definition.versionId,
    eventVersion,
    targetChains: targetChains ?? [],
    onchain: onchain ?? null,
    createdAt: at,
    updatedAt: at,
  };
}

/**
 * The catalog's pointers are into the list of claimed versions; the caller's body holds that list at `at`, its items at
 * these `places` (default: the same).
 */
export async function claimAt<T>(
  at: string,
  claim: () => Promise<T>,
  places?: readonly number[],
): Promise<T> {
  try {
    return await claim();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const moved = (pointer: string) =>
      pointer.replace(/^\/(\d+)/, (_, index) => `/${places?.[index] ?? index}`);
    const errors = error.errors.map((problem) => ({ ...problem, pointer: `${at}${moved(problem.pointer)}` }));
    throw new ServiceError(error.code, error.message, { errors, facts: error.facts });
  }
}
