import { type Bus, serviceCall } from '@orrery/bus';
import {
  type CallContext,
  catalogContract,
  type KeptDefinition,
  MAX_LIMIT,
  type ReplyOf,
  type RequestOf,
  type SchemaDefinition,
  ServiceError,
  type SharingVersion,
  type VersionBody,
  type VersionDefinition,
  type WorldTexts,
} from '@orrery/contracts';
import {
  type CompiledDefinition,
  type CompiledSchema,
  compileDefinition,
  compileKept,
  compileSchema,
} from '@orrery/deciding';
import { type Clock, createBatcher } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import type { MadeClaim, SchemaClaim } from '../../store/deployments/claim-store.js';
import type { Binding } from '../../store/state/deployment-state.js';

export interface VersionClaim extends MadeClaim {
  readonly event: string;
  readonly version: number;
  readonly definition: VersionDefinition;
}

const TIMEOUT_MS = 5000;

interface CatalogClientOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  /**
   * Each call that confirms definitions waits for this first. The runtime gives the wait for a free commit slot: an
   * execution cannot commit before there is one, and until then more executions share the call (docs/adr/0010).
   */
  readonly beforeConfirm: () => Promise<void> | undefined;
  /** Keeps a version that this process has not met yet, before anything is decided by it. */
  readonly keep: (definition: VersionDefinition) => Promise<void>;
  /** What was kept of a world by its `versionHash`; undefined: nothing. */
  readonly findKept: (worldId: number, hash: string) => Promise<KeptDefinition | undefined>;
}

export type CatalogClient = ReturnType<typeof createCatalogClient>;

/** What the runtime knows of the catalog: definitions as they are now or were when they were executed, and claims on them. */
export function createCatalogClient({ bus, clock, beforeConfirm, keep, findKept }: CatalogClientOptions) {
  const { rpcs } = catalogContract;
  const options = () => serviceCall('runtime', clock, TIMEOUT_MS);
  const unite = createUnite();
  const ask = async (request: Request): Promise<Reply> =>
    unite(await bus.call(rpcs['definitions.confirm'], { ...request, sharing: true }, options()));
  const confirm = createConfirm(ask, beforeConfirm);
  /** Versions that are claimed or locked are read by calls of their own: no execution waits for many large ones. */
  const confirmClaimed = createConfirm(ask);
  const readVersions = (ids: readonly number[]): Promise<VersionDefinition[]> =>
    Promise.all(ids.map((versionId) => readVersion(confirmClaimed, versionId)));
  const definitions = createDefinitions(confirm, keep);
  return {
    ...definitions,
    recorded: createRecorded(findKept),
    /** The id of an event's version, bound or not; `undefined` when there is none. */
    findVersion: async (worldId: number, event: string, version: number): Promise<number | undefined> => {
      const request = { worldId, event, version };
      const { versionId } = await bus.call(rpcs['definitions.find'], request, options());
      return versionId ?? undefined;
    },
    /** A version that is not saved, ready to run. @throws what saving it would refuse, with pointers into `/definition` */
    draft: async (worldId: number, event: string, body: VersionBody): Promise<CompiledDefinition> => {
      const request = { worldId, event, definition: body };
      const { definition } = await bus.call(rpcs['definitions.draft'], request, options());
      return compileDefinition(definition);
    },
    /** A page of the schemas that have indexed attributes, in the order of their ids. */
    declaredIndexes: (after: number) => bus.call(rpcs['definitions.indexed'], { after }, options()),
    /** The names of a world's live schemas, up to 100, on behalf of a caller who may see it; none without the catalog. */
    schemaNames: async (worldAddress: string, call: CallContext): Promise<string[]> => {
      const query = { page: 1, limit: MAX_LIMIT };
      const request = { params: { worldAddress }, query, headers: {}, body: {} };
      const listed = bus.call(rpcs['entitySchemas.list'], request, call);
      return (await listed.catch(() => ({ data: [] }))).data.map(({ name }) => name);
    },
    /** Claims schemas for a deployment's first instances. @throws `unknown_entity_schema` */
    claimSchemas: async (
      { address, world_id }: { address: string; world_id: number },
      schemas: readonly string[],
    ): Promise<SchemaClaim[]> => {
      const request = { worldId: world_id, deployment: address, schemas: [...schemas] };
      const { definitions, revisions } = await bus.call(rpcs['claims.schemas'], request, options());
      return definitions.map(({ name, schemaId: id }) => ({ name, id, revision: revisions[id] ?? null }));
    },
    /** Claims in the order of the versions. @throws `unknown_event`, `unknown_event_version` */
    claimVersions: async (
      { address, worldId }: { address: string; worldId: number },
      versions: readonly { event: string; version: number }[],
    ): Promise<VersionClaim[]> => {
      if (versions.length === 0) return [];
      const request = { worldId, deployment: address, versions: [...versions], withoutDefinitions: true };
      const claimed = await bus.call(rpcs['claims.versions'], request, options());
      // A catalog of the previous release answers the definitions themselves.
      const definitions = claimed.versionIds ? await readVersions(claimed.versionIds) : claimed.definitions;
      return definitions.map((definition, index) => {
        const { versionId: id } = definition;
        // An event may have another name by now.
        const { event, version } = versions[index] ?? definition;
        return { event, version, id, revision: claimed.revisions[id] ?? null, definition };
      });
    },
    /** Locks versions for a deployment's lock. @throws `unknown_event_version` before any is locked */
    lock: async (
      worldId: number,
      bound: readonly BoundVersion[],
    ): Promise<{ definitions: VersionDefinition[]; world: WorldTexts }> => {
      const found = await Promise.all(bound.map((one) => definitions.version(worldId, one)));
      if (found.includes(undefined)) throw new ServiceError('unknown_event_version');
      const versionIds = bound.map(({ versionId }) => versionId);
      const request = { worldId, versionIds, withoutDefinitions: true };
      const { definitions: locked, world } = await bus.call(rpcs['definitions.lock'], request, options());
      // A catalog of the previous release answers the definitions themselves.
      return { definitions: locked.length > 0 ? locked : await readVersions(versionIds), world };
    },
    /**
     * Releases these claims unless they have been made again; without any named, all of the deployment's. A claim whose
     * revision is unknown is left to the catalog's sweep.
     */
    release: async (
      deployment: string,
      some?: { versions?: readonly MadeClaim[]; schemas?: readonly MadeClaim[] },
    ): Promise<void> => {
      const versions = known(some?.versions);
      const schemas = known(some?.schemas);
      if (some !== undefined && versions.length + schemas.length === 0) return;
      await bus.call(rpcs['claims.release'], { deployment, ...(some && { versions, schemas }) }, options());
    },
  };
}

const known = (claims: readonly MadeClaim[] = []): { id: number; revision: number }[] =>
  claims.flatMap(({ id, revision }) => (revision === null ? [] : [{ id, revision }]));

/** @throws `unknown_event_version` when it is gone; one that is claimed is not deleted. */
async function readVersion(confirm: Confirm, versionId: number): Promise<VersionDefinition> {
  const answer = await confirm('versions', { versionId, hash: NO_HASH });
  if (answer.state !== 'changed') throw new ServiceError('unknown_event_version');
  return answer.definition;
}

type Request = RequestOf<(typeof catalogContract.rpcs)['definitions.confirm']>;
type Reply = UnitedReply;
type Kind = 'versions' | 'schemas' | 'worlds';
type ItemOf<K extends Kind> = Request[K][number];
type AnswerOf<K extends Kind> = Reply[K][number];
type KindAndItem = { [K in Kind]: { kind: K; item: ItemOf<K> } }[Kind];

type Answered<K extends Kind> = Exclude<AnswerOf<K>, { state: 'later' }>;

/** Whether the remembered definition is current: `same`, `changed` with the current definition, or `gone`. */
type Confirm = <K extends Kind>(kind: K, item: ItemOf<K>) => Promise<Answered<K>>;

/** Items that share a call at most; the contract bounds each kind. */
const AT_ONCE = 1000;

/** Different items have different keys: the free text comes last. */
function keyOf({ kind, item }: KindAndItem): string {
  if (kind === 'versions') return `${kind} ${item.versionId} ${item.hash}`;
  if (kind === 'schemas') return `${kind} ${item.worldId} ${item.hash} ${item.name}`;
  return `${kind} ${item.worldId} ${item.hash}`;
}

/**
 * Confirms definitions with one call per batch. An item joins the next call that has not been sent yet, so its answer is
 * never older than the request for it: an execution may rely on it. Each call waits for `ready` first. What has no room in
 * a reply joins the next call.
 */
export function createConfirm(
  call: (request: Request) => Promise<Reply>,
  ready: () => Promise<void> | undefined = () => undefined,
): Confirm {
  const load = async (items: readonly KindAndItem[]) => {
    const request = { versions: [], schemas: [], worlds: [] } as { [K in Kind]: ItemOf<Kind>[] };
    const indexes = items.map(({ kind, item }) => request[kind].push(item) - 1);
    const reply = await call(request as Request);
    // Answers are in the order of the items, one for each.
    return items.map(({ kind }, index) => reply[kind][indexes[index] as number] as AnswerOf<Kind>);
  };
  const batcher = createBatcher<KindAndItem, AnswerOf<Kind>>({ maxBatch: AT_ONCE, load, keyOf, ready });
  const ask = async (kind: Kind, item: never) => {
    let answer = await batcher({ kind, item });
    while (answer.state === 'later') answer = await batcher({ kind, item });
    return answer;
  };
  return ask as Confirm;
}

/** Compiled definitions in memory at once, of versions and of schemas. */
const MAX_COMPILED = 5000;
/** Texts of worlds in memory at once; a description and a prompt are up to 36 KiB. */
const MAX_WORLDS = 1000;
/** Sent when nothing is remembered, so that the catalog sends the definition. */
const NO_HASH = '';

const schemaKey = (worldId: number, name: string): string => `${worldId}:${name}`;

/** Definitions as they are now: remembered ones are confirmed by their hashes; locked versions never change. */
function createDefinitions(confirm: Confirm, keep: CatalogClientOptions['keep']) {
  const versions = new LRUCache<number, CompiledDefinition>({ max: MAX_COMPILED });
  const schemas = new LRUCache<string, CompiledSchema>({ max: MAX_COMPILED });
  const worlds = new LRUCache<number, WorldTexts>({ max: MAX_WORLDS });

  return {
    /** A bound version as it is now; a locked one never changes. `undefined` when it is gone. */
    version: async (worldId: number, bound: BoundVersion): Promise<CompiledDefinition | undefined> => {
      const { versionId } = bound;
      const remembered = versions.get(versionId);
      const known = isBound(remembered, worldId, bound) ? remembered : undefined;
      if (known?.definition.isLocked) return known;
      const answer = await confirm('versions', { versionId, hash: known?.definition.hash ?? NO_HASH });
      if (answer.state === 'changed') await keep(answer.definition);
      const found = current(versions, versionId, known, answer, compileDefinition);
      return isBound(found, worldId, bound) ? found : undefined;
    },
    /** The world's texts as they are now; `undefined` when it is gone. */
    world: async (worldId: number): Promise<WorldTexts | undefined> => {
      const known = worlds.get(worldId);
      const answer = await confirm('worlds', { worldId, hash: known?.hash ?? NO_HASH });
      return current(worlds, worldId, known, answer, (texts) => texts);
    },
    /** A live schema as this process has met it last, which asks nobody; it may have changed meanwhile. */
    rememberedSchema: (worldId: number, name: string): CompiledSchema | undefined =>
      schemas.get(schemaKey(worldId, name)),
    /** A live schema as it is now; `undefined` when there is none of this name. */
    schema: async (worldId: number, name: string): Promise<CompiledSchema | undefined> => {
      const key = schemaKey(worldId, name);
      const known = schemas.get(key);
      const answer = await confirm('schemas', { worldId, name, hash: known?.definition.hash ?? NO_HASH });
      return current(schemas, key, known, answer, compileSchema);
    },
  };
}

/** Definitions of the past in memory at once; unlike those of now each holds schemas of its own. */
const MAX_RECORDED = 100;

/** The definition by which an entry was decided, whatever its version has become; `undefined` where none is kept. */
function createRecorded(findKept: CatalogClientOptions['findKept']) {
  const compiled = new LRUCache<string, CompiledDefinition>({ max: MAX_RECORDED });
  return async (worldId: number, hash: string): Promise<CompiledDefinition | undefined> => {
    const key = `${worldId} ${hash}`;
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const kept = await findKept(worldId, hash);
    const found = kept && compileKept(kept);
    if (found !== undefined) compiled.set(key, found);
    return found;
  };
}

/** A version as a deployment refers to it. */
type BoundVersion = Pick<Binding, 'versionId' | 'event' | 'eventVersion'>;

/** A catalog that was restored gives ids that it has lost to other versions, also to those of other accounts. */
const isBound = (
  compiled: CompiledDefinition | undefined,
  worldId: number,
  { event, eventVersion }: BoundVersion,
): boolean =>
  compiled?.definition.worldId === worldId &&
  compiled.definition.event === event &&
  compiled.definition.version === eventVersion;

type Answer<Definition> =
  | { readonly state: 'same' }
  | { readonly state: 'gone' }
  | { readonly state: 'changed'; readonly definition: Definition };

/** What is remembered, if the answer is that it is the same; else what takes its place, if anything does. */
function current<Key extends {}, Compiled extends {}, Definition>(
  cache: LRUCache<Key, Compiled>,
  key: Key,
  known: Compiled | undefined,
  answer: Answer<Definition>,
  compile: (definition: Definition) => Compiled,
): Compiled | undefined {
  if (answer.state === 'same') return known;
  cache.delete(key);
  if (answer.state === 'gone') return undefined;
  const compiled = compile(answer.definition);
  cache.set(key, compiled);
  return compiled;
}

type SentReply = ReplyOf<(typeof catalogContract.rpcs)['definitions.confirm']>;
type VersionAnswer = SentReply['versions'][number];

/** A reply whose versions have their schemas. */
interface UnitedReply extends Pick<SentReply, 'schemas' | 'worlds'> {
  readonly versions: Exclude<VersionAnswer, { state: 'shared' }>[];
}

/** Schemas that are found again; what no version holds any more is not kept in memory for it. */
const MAX_FOUND = 50_000;

/**
 * Gives the versions of a reply their schemas. All versions that are read hold one object for one schema: the schemas of a
 * world may have megabytes. A catalog of the previous release answers whole versions.
 */
export function createUnite() {
  const known = new LRUCache<string, WeakRef<SchemaDefinition>>({ max: MAX_FOUND });
  const oneOf = (schema: SchemaDefinition): SchemaDefinition => {
    const key = `${schema.schemaId} ${schema.hash}`;
    const before = known.get(key)?.deref();
    if (before === undefined) known.set(key, new WeakRef(schema));
    return before ?? schema;
  };
  return ({ versions, schemas, worlds, sharedSchemas = [] }: SentReply): UnitedReply => {
    const shared = sharedSchemas.map(oneOf);
    const united = versions.map((answer) =>
      answer.state === 'shared'
        ? { state: 'changed' as const, definition: whole(answer.definition, shared) }
        : answer,
    );
    return { versions: united, schemas, worlds };
  };
}

function whole(version: SharingVersion, shared: readonly SchemaDefinition[]): VersionDefinition {
  const named = version.schemas.map((place): [string, SchemaDefinition] => {
    const schema = shared[place];
    if (schema === undefined) throw new Error('a version names a schema that its reply does not have');
    return [schema.name, schema];
  });
  return { ...version, schemas: Object.fromEntries(named) };
}
