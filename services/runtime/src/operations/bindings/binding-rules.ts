import {
  type BindingInput,
  type BindingRecord,
  didYouMean,
  type ErrorCode,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  nothingToRun,
  type OnchainFilter,
  refusal,
  ServiceError,
  type VersionDefinition,
  WELL_KNOWN_CHAINS,
} from '@orrery/contracts';
import {
  COMPARISONS,
  type Comparisons,
  changesIn,
  comparable,
  compileContract,
  toJsonSchema,
} from '@orrery/expressions';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import type { Payments } from '../../runs/payments/payments.js';
import type { RuntimeLimits } from '../../store/deployments/deployment-directory.js';
import type { NewBinding } from '../../store/state/bindings.js';
import type { Binding, DeploymentState } from '../../store/state/deployment-state.js';
import type { RuntimeContext } from '../context.js';

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

/** @throws the error with this code where there are problems. */
export function refuseProblems(code: ErrorCode, errors: FieldProblem[]): void {
  if (errors.length > 0) throw new ServiceError(code, errors[0]?.message, { errors });
}

/** @throws `duplicate_event` naming every repetition. */
export function refuseDuplicates(bindings: readonly { event: string }[], at: string): void {
  const seen = new Set<string>();
  const errors = bindings.flatMap(({ event }, index) => {
    const message = `The event "${event}" appears twice.`;
    if (seen.has(event)) return [fieldProblem(`${at}/${index}/event`, 'duplicate_event', message)];
    seen.add(event);
    return [];
  });
  refuseProblems('duplicate_event', errors);
}

/** @throws `unknown_chain` for a name that the operator has not configured. */
export function refuseUnknownChains(
  chains: ReadonlySet<string>,
  bindings: readonly { targetChains?: readonly string[] | undefined }[],
  at: string,
): void {
  const errors = bindings.flatMap(({ targetChains = [] }, index) =>
    targetChains.flatMap((chain, position) => {
      const pointer = `${at}/${index}/targetChains/${position}`;
      return chains.has(chain) ? [] : [fieldProblem(pointer, 'unknown_chain', unknownChain(chain, chains))];
    }),
  );
  refuseProblems('unknown_chain', errors);
}

function unknownChain(chain: string, configured: ReadonlySet<string>): string {
  if (WELL_KNOWN_CHAINS.includes(chain)) return `The operator has not configured the chain "${chain}".`;
  const meant = didYouMean(chain, [...configured, ...WELL_KNOWN_CHAINS]);
  return `No chain is named "${chain}".${meant} GET /api/chains lists those that can be named.`;
}

/** Says that an event is not bound, and which bound one may be meant. */
export const notBound = (event: string, bound: Iterable<string>): string =>
  `The event "${event}" is not bound.${didYouMean(event, bound)}`;

/** Claims the versions and makes the bindings; pointers of errors begin with `at`. */
export async function newBindings(
  { catalog, chains, ids }: RuntimeContext,
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
  return given.map(({ event, eventVersion, targetChains = [], onchain = null }, index) => {
    const [claim, id] = [claims[index], newIds[index]];
    if (claim === undefined || id === undefined) throw new Error('too few claims were made, or ids taken');
    const claimed = { versionId: claim.id, claimRevision: claim.revision };
    const binding = {
      id,
      event,
      ...claimed,
      eventVersion,
      targetChains,
      onchain,
      createdAt: now,
      updatedAt: now,
    };
    return { binding, facts: factsOf(binding), definition: claim.definition };
  });
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

export type BodyLimits = Pick<RuntimeLimits, 'descriptionBytes' | 'bindingsPerDeployment'>;

/** Holds a body that is a list of bindings to the operator's limit. */
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

/** The deployment that bindings are of, as it will be. */
export interface Binder {
  /** Why no wallet can pay for executions of it; undefined where wallets can. */
  readonly lack: string | undefined;
  /** The names of the events that it binds. */
  readonly bound: readonly string[];
  /** Of all bindings in one request: each has up to 8 names that are compared with those bound. */
  readonly compared: Comparisons;
}

export const binderOf = (
  payToAddress: string | null,
  bound: Iterable<string>,
  payments: Payments,
): Binder => ({
  lack: lackOf(payToAddress, payments),
  bound: [...new Set(bound)],
  compared: { left: COMPARISONS },
});

/** Likely mistakes in a binding that are allowed. Pointers begin with `at`, the binding's path in the body. */
export const bindingWarnings = (
  { onchain }: Pick<BindingInput, 'onchain'>,
  definition: VersionDefinition,
  binder: Binder,
  at: string,
): FieldProblem[] => [
  ...unpayable(definition, binder.lack, `${at}/event`),
  ...nothingToRun(definition, `${at}/event`),
  ...unboundFollowUps(definition, binder, `${at}/event`),
  ...filterWarnings(onchain, definition, `${at}/onchain`),
];

/** Events that executions of a version set and that are not bound: they are executed when they are due, and fail. */
function unboundFollowUps(
  { event, followUps = [] }: VersionDefinition,
  { bound, compared }: Binder,
  pointer: string,
): FieldProblem[] {
  const named = new Set(followUps.flatMap((followUp) => followUp.event ?? []));
  return [...named]
    .filter((name) => !bound.includes(name))
    .map((name) => {
      const meant = didYouMean(name, comparable(bound, compared));
      const message = `Executions of "${event}" set others of "${name}", which is not bound.${meant} They fail until the deployment binds it.`;
      return fieldProblem(pointer, 'event_not_bound', message, `Bind "${name}", too.`);
    });
}

/** Filter names that name nothing which the version declares, so that nothing is pushed of them. */
function filterWarnings(
  filter: OnchainFilter | null | undefined,
  definition: VersionDefinition,
  at: string,
): FieldProblem[] {
  const attributes = changeableAttributes(definition);
  const keys = declaredResult(definition);
  return [
    ...unknownNames(filter?.stateChanges, attributes, `${at}/stateChanges`, NO_ATTRIBUTE),
    ...unknownNames(filter?.result, keys, `${at}/result`, NO_RESULT_KEY),
  ];
}

const MAX_NAMED = 20;
const NO_ATTRIBUTE = 'No entity schema that the version may change has an attribute';
const NO_RESULT_KEY = 'The version declares no result key';

function unknownNames(
  names: readonly string[] | null | undefined,
  known: readonly string[] | undefined,
  at: string,
  missing: string,
): FieldProblem[] {
  if (known === undefined) return [];
  const all = new Set(known);
  return (names ?? [])
    .map((name, index) => ({ name, index }))
    .filter(({ name }) => !all.has(name))
    .slice(0, MAX_NAMED)
    .map(({ name, index }) => {
      const text = `${missing} "${name}".${didYouMean(name, known)}`;
      return fieldProblem(`${at}/${index}`, 'unknown_name', text);
    });
}

/**
 * Both spellings of the attributes that an execution may change: `wins` and `horse.wins`, those of the schemas and those
 * that the template sets besides. Undefined where a schema without attributes may hold anything.
 */
function changeableAttributes({
  schemas,
  stateChanges,
  mutationSettings,
}: VersionDefinition): string[] | undefined {
  const changeable = Object.values(schemas).filter(
    ({ name }) => stateChanges === null || Object.hasOwn(stateChanges, name),
  );
  if (changeable.some(({ attributes }) => attributes.length === 0)) return undefined;
  const declared = changeable.flatMap(({ name, attributes }) =>
    attributes.map((attribute) => ({ schema: name, attribute: attribute.name })),
  );
  const set = changesIn(mutationSettings?.template ?? {}).flatMap(({ schema = '', change }) =>
    isJsonObject(change) ? Object.keys(change).map((attribute) => ({ schema, attribute })) : [],
  );
  return [...declared, ...set].flatMap(({ schema, attribute }) => [attribute, `${schema}.${attribute}`]);
}

/** The top-level keys that the `outputSchema` declares; undefined without one, and where it allows others. */
function declaredResult({ outputSchema }: VersionDefinition): string[] | undefined {
  const compiled = outputSchema === null ? undefined : compileContract(outputSchema);
  if (compiled?.ok !== true) return undefined;
  const { properties, additionalProperties } = toJsonSchema(compiled.contract);
  return additionalProperties === false && isJsonObject(properties) ? Object.keys(properties) : undefined;
}

/** Why no wallet can pay for executions of a deployment; undefined where wallets can. */
export const lackOf = (payToAddress: string | null, payments: Payments): string | undefined =>
  payToAddress === null ? NO_RECEIVER : payments.whyUnpayable(payToAddress);

const NO_RECEIVER =
  'the deployment has no payToAddress: no wallet can execute it until the deployment has one';

/** Warns of a public event with a price that no wallet can pay. @param lack why not, of the deployment */
function unpayable(
  { event, executionSettings }: Pick<VersionDefinition, 'event' | 'executionSettings'>,
  lack: string | undefined,
  pointer: string,
): FieldProblem[] {
  const { visibility, priceUsd = 0 } = executionSettings ?? {};
  if (visibility !== 'public' || priceUsd <= 0 || lack === undefined) return [];
  const message = `The public event "${event}" costs ${priceUsd} USD and ${lack}.`;
  return [fieldProblem(pointer, 'pay_to_address_missing', message)];
}

/**
 * The bound events with a price that no wallet can pay. A warning is not worth a failure: without the catalog there are
 * none.
 * @param lack why not, of the deployment
 */
export async function unpayableBound(
  catalog: CatalogClient,
  { bindings, row }: Pick<DeploymentState, 'bindings' | 'row'>,
  lack: string | undefined,
  pointer: string,
): Promise<FieldProblem[]> {
  if (lack === undefined) return [];
  const versions = [...bindings.values()].map((binding) => catalog.version(row.world_id, binding));
  const found = await Promise.all(versions).catch(() => []);
  return found.flatMap((one) => (one === undefined ? [] : unpayable(one.definition, lack, pointer)));
}
