import {
  type BindingInput,
  type BindingRecord,
  type ContentLimits,
  didYouMean,
  type FieldProblem,
  fieldProblem,
  type JsonObject,
  refusal,
  ServiceError,
  WELL_KNOWN_CHAINS,
} from '@orrery/contracts';
import type { CatalogClient, VersionClaim } from '../../lane/catalog/catalog-client.js';
import type { NewBinding } from '../../store/state/bindings.js';
import type { Binding } from '../../store/state/deployment-state.js';
import type { IdBlocks } from '../../store/state/id-blocks.js';

export const toRecord = (binding: Binding): BindingRecord => ({
  id: binding.id,
  event: binding.event,
  eventVersion: binding.eventVersion,
  targetChains: binding.targetChains,
  onchain: binding.onchain,
  createdAt: binding.createdAt.toISOString(),
  updatedAt: binding.updatedAt.toISOString(),
});

/** A binding as the journal shows it. */
export const factsOf = ({ event, eventVersion, targetChains, onchain }: Binding): JsonObject =>
  ({
    event,
    eventVersion,
    targetChains,
    onchain: onchain as JsonObject | null,
  }) satisfies Record<keyof BindingInput, unknown>;

/** @throws `duplicate_event` naming every repetition. */
export function refuseDuplicates(bindings: readonly { event: string }[], at: string): void {
  const seen = new Set<string>();
  const errors = bindings.flatMap(({ event }, index) => {
    if (!seen.has(event)) {
      seen.add(event);
      return [];
    }
    return [fieldProblem(`${at}/${index}/event`, 'duplicate_event', `The event "${event}" appears twice.`)];
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
    targetChains.flatMap((chain, position) =>
      chains.has(chain)
        ? []
        : [
            fieldProblem(
              `${at}/${index}/targetChains/${position}`,
              'unknown_chain',
              unknownChain(chain, chains),
            ),
          ],
    ),
  );
  if (errors.length > 0) throw new ServiceError('unknown_chain', errors[0]?.message, { errors });
}

function unknownChain(chain: string, configured: ReadonlySet<string>): string {
  if (WELL_KNOWN_CHAINS.includes(chain)) return `The operator has not configured the chain "${chain}".`;
  const meant = didYouMean(chain, [...configured, ...WELL_KNOWN_CHAINS]);
  return `No chain is named "${chain}".${meant} GET /api/chains lists those that can be named.`;
}

/** Says that an event is not bound, and which bound one may be meant. */
export const notBound = (event: string, bound: Iterable<string>): string =>
  `The event "${event}" is not bound.${didYouMean(event, bound)}`;

/** What makes new bindings: claims on their versions, the names of chains, ids. */
export interface BindingClaims {
  readonly catalog: Pick<CatalogClient, 'claimVersions'>;
  /** Names of the chains that bindings may name. */
  readonly chains: ReadonlySet<string>;
  readonly ids: Pick<IdBlocks, 'take'>;
}

/** Claims the versions and makes the bindings; pointers of errors begin with `at`. */
export async function newBindings(
  { catalog, chains, ids }: BindingClaims,
  deployment: { address: string; worldId: number },
  given: readonly BindingInput[],
  at: string,
  now: Date,
): Promise<NewBinding[]> {
  refuseDuplicates(given, at);
  refuseUnknownChains(chains, given, at);
  const versions = given.map(({ event, eventVersion: version }) => ({ event, version }));
  const claims = await claimAt(at, () => catalog.claimVersions(deployment, versions));
  const newIds = await ids.take(given.length);
  return given.map((input, index) => {
    const claim = claims[index];
    if (claim === undefined) throw new Error('the catalog left out a claimed version');
    const binding = bindingOf(input, claim, newIds[index], now);
    return { binding, facts: factsOf(binding), definition: claim.definition };
  });
}

function bindingOf(
  { event, eventVersion, targetChains, onchain }: BindingInput,
  claim: VersionClaim,
  id: number | undefined,
  at: Date,
): Binding {
  if (id === undefined) throw new Error('too few ids were taken');
  return {
    id,
    event,
    versionId: claim.id,
    claimRevision: claim.revision,
    eventVersion,
    targetChains: targetChains ?? [],
    onchain: onchain ?? null,
    createdAt: at,
    updatedAt: at,
  };
}

/**
 * Runs a claim and makes the pointers of its errors point into the caller's body: the catalog's point into the list of
 * claimed versions, which the body has at `at`, with its items at these `indexes` (default: the same).
 */
export async function claimAt<T>(
  at: string,
  claim: () => Promise<T>,
  indexes?: readonly number[],
): Promise<T> {
  try {
    return await claim();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const moved = (pointer: string) =>
      pointer.replace(/^\/(\d+)/, (_, index) => `/${indexes?.[index] ?? index}`);
    const errors = error.errors.map((problem) => ({ ...problem, pointer: `${at}${moved(problem.pointer)}` }));
    throw new ServiceError(error.code, error.message, { errors, facts: error.facts });
  }
}

export type BodyLimits = Pick<ContentLimits, 'descriptionBytes' | 'bindingsPerDeployment'>;

/** The same for a body that is a list of bindings. */
export function refuseLongList(bindings: readonly unknown[], limits: BodyLimits): void {
  const problems = listProblems(bindings, '', limits);
  if (problems.length > 0) throw refusal(problems, 'The body');
}

export function listProblems(
  bindings: readonly unknown[],
  pointer: string,
  { bindingsPerDeployment: most }: BodyLimits,
): FieldProblem[] {
  if (bindings.length <= most) return [];
  return [fieldProblem(pointer, 'too_big', `A deployment has at most ${most} bindings.`)];
}
