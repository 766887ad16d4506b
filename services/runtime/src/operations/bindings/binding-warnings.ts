import {
  type BindingInput,
  didYouMean,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  nothingToRun,
  type OnchainFilter,
  type VersionDefinition,
} from '@orrery/contracts';
import { changesIn, compileContract, toJsonSchema } from '@orrery/expressions';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';

/**
 * Likely mistakes in a binding that are allowed. Pointers begin with `at`, the binding's path in the body.
 * @param lack why no wallet can pay for executions of the deployment
 */
export const bindingWarnings = (
  { onchain }: Pick<BindingInput, 'onchain'>,
  definition: VersionDefinition,
  lack: string | undefined,
  at: string,
): FieldProblem[] => [
  ...unpayable(definition, lack, `${at}/event`),
  ...nothingToRun(definition, `${at}/event`),
  ...filterWarnings(onchain, definition, `${at}/onchain`),
];

/** Filter names that name nothing which the version declares, so that nothing is pushed of them. */
function filterWarnings(
  filter: OnchainFilter | null | undefined,
  definition: VersionDefinition,
  at: string,
): FieldProblem[] {
  const attributes = changeableAttributes(definition);
  const keys = declaredResult(definition);
  return [
    ...unknownNames(
      filter?.stateChanges,
      attributes,
      `${at}/stateChanges`,
      (name) => `No entity schema that the version may change has an attribute "${name}".`,
    ),
    ...unknownNames(
      filter?.result,
      keys,
      `${at}/result`,
      (name) => `The version declares no result key "${name}".`,
    ),
  ];
}

const MAX_NAMED = 20;

function unknownNames(
  names: readonly string[] | null | undefined,
  known: readonly string[] | undefined,
  at: string,
  message: (name: string) => string,
): FieldProblem[] {
  if (known === undefined) return [];
  const all = new Set(known);
  return (names ?? [])
    .map((name, index) => ({ name, index }))
    .filter(({ name }) => !all.has(name))
    .slice(0, MAX_NAMED)
    .map(({ name, index }) => {
      const text = `${message(name)}${didYouMean(name, known)}`;
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

/** What the payments know of receivers. */
export interface Receivers {
  /** Why no wallet can pay this receiver, as the end of a sentence; undefined where wallets can. */
  whyUnpayable(payTo: string): string | undefined;
}

/** Why no wallet can pay for executions of a deployment; undefined where wallets can. */
export const lackOf = (payToAddress: string | null, receivers: Receivers): string | undefined =>
  payToAddress === null ? NO_RECEIVER : receivers.whyUnpayable(payToAddress);

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
  catalog: Pick<CatalogClient, 'version'>,
  { bindings }: Pick<DeploymentState, 'bindings'>,
  lack: string | undefined,
  pointer: string,
): Promise<FieldProblem[]> {
  if (lack === undefined) return [];
  const versions = [...bindings.values()].map(({ versionId }) => catalog.version(versionId));
  const found = await Promise.all(versions).catch(() => []);
  return found.flatMap((one) => (one === undefined ? [] : unpayable(one.definition, lack, pointer)));
}
