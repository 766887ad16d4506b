import {
  type AttributeRecord,
  type CreateAttributeBody,
  type CreateEntitySchemaBody,
  type CreateWorldBody,
  type EntitySchemaRecord,
  type ModeMap,
  toNfc,
  type VersionBody,
  type VersionRecord,
  type WorldRecord,
} from '@orrery/contracts';

/** A world as its file says it: what is nothing is left out. */
export type WorldDefinition = CreateWorldBody;
export type SchemaDefinition = CreateEntitySchemaBody;
export type AttributeDefinition = CreateAttributeBody;
/** An event and the definition of its latest version. */
export interface EventDefinition extends VersionBody {
  readonly name: string;
  readonly description?: string | null | undefined;
}

/** The members of a version, in the order of its file. */
export const VERSION_MEMBERS = [
  'inputSchema',
  'outputSchema',
  'readEntities',
  'readHistory',
  'stateChanges',
  'behaviorPrompt',
  'mutationSettings',
  'executionSettings',
  'guards',
  'followUps',
] as const satisfies readonly (keyof VersionBody)[];

/** Without absent members; null is as absent. */
function stated<T extends object>(object: T): T {
  const isStated = (value: unknown) => value !== undefined && value !== null;
  return Object.fromEntries(Object.entries(object).filter(([, value]) => isStated(value))) as T;
}

/** An empty list of these says nothing. */
const ifAny = <T>(list: readonly T[] | null | undefined): T[] | undefined =>
  list && list.length > 0 ? [...list] : undefined;

export const toWorldDefinition = ({
  name,
  description,
  domainTags,
  promptSeed,
}: CreateWorldBody | WorldRecord): WorldDefinition =>
  stated({ name, description, domainTags: ifAny(domainTags), promptSeed });

export const toSchemaDefinition = ({
  name,
  description,
  attributes = [],
}: CreateEntitySchemaBody | EntitySchemaRecord): SchemaDefinition =>
  stated({ name, description, attributes: ifAny(attributes.map(toAttributeDefinition)) });

const toAttributeDefinition = ({
  name,
  type,
  constraints,
  defaultValue,
  indexed,
}: CreateAttributeBody | AttributeRecord): AttributeDefinition =>
  stated({ name, type, constraints, defaultValue, indexed: indexed || undefined });

export const toEventDefinition = (
  { name, description }: Pick<EventDefinition, 'name' | 'description'>,
  version: VersionBody | VersionRecord | undefined,
): EventDefinition => stated({ name, description, ...(version && toVersionDefinition(version)) });

/**
 * A version in one spelling, as answers have it (docs/catalog.md): the prompt stands at the top, settings name their mode and
 * their visibility, and names are in NFC.
 */
function toVersionDefinition(version: VersionBody | VersionRecord): VersionBody {
  const { mutationSettings: mutation, executionSettings: execution } = version;
  const changes = version.stateChanges ?? ('stateChangeSchema' in version ? version.stateChangeSchema : null);
  const { template } = mutation ?? {};
  const mode = mutation?.mode ?? (template ? 'direct' : 'ai');
  return stated({
    inputSchema: version.inputSchema,
    outputSchema: version.outputSchema,
    readEntities: ifAny(version.readEntities)?.map((read) => ({ ...read, schema: toNfc(read.schema) })),
    readHistory: version.readHistory && {
      ...version.readHistory,
      ...stated({ events: version.readHistory.events?.map(toNfc) }),
    },
    stateChanges: changes && withNfcNames(changes),
    behaviorPrompt: version.behaviorPrompt ?? mutation?.behaviorPrompt,
    mutationSettings: mutation && stated({ mode, template }),
    executionSettings: execution && {
      ...stated({ visibility: execution.visibility ?? 'admin', priceUsd: execution.priceUsd }),
      ...(execution.payerMayCall === true && { payerMayCall: true }),
      ...(execution.randomness && { randomness: execution.randomness }),
      ...(execution.cron && { cron: stated(execution.cron) }),
    },
    guards: version.guards,
    followUps: ifAny(version.followUps),
  });
}

/** Names that are one in NFC stay as they are: the server says so where they contradict each other. */
function withNfcNames(modes: ModeMap): ModeMap {
  const named = new Map(Object.entries(modes).map(([name, mode]) => [toNfc(name), mode]));
  return named.size === Object.keys(modes).length ? Object.fromEntries(named) : modes;
}

/** All definitions of a world: what a folder holds, and what a server has. */
export interface WorldContent {
  readonly world: WorldDefinition;
  readonly schemas: readonly SchemaDefinition[];
  readonly events: readonly EventDefinition[];
}

/** A world on a server, with what its files do not say. */
export interface StoredWorld extends WorldContent {
  readonly address: string;
  /** By the names of events; an event all of whose versions are deleted has none. */
  readonly latest: ReadonlyMap<string, LatestVersion>;
  /** What may be replaced, by its filled path below the world's: its `ETag` as it was read. */
  readonly tags: ReadonlyMap<string, string>;
}

export interface LatestVersion {
  readonly version: number;
  readonly isLocked: boolean;
}
