import { type Bus, serviceCall } from '@orrery/bus';
import {
  type CallContext,
  catalogContract,
  MAX_LIMIT,
  type VersionDefinition,
  type WorldTexts,
} from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { CompiledDefinition, CompiledSchema } from '../execution/compiled-definition.js';
import { createConfirm, createDefinitions } from './definitions.js';

/** What the runtime knows of the catalog: definitions as they are now, and claims on them. */
export interface CatalogClient {
  /** A version as it is now; a locked one never changes. `undefined` when it is gone. */
  version(versionId: number): Promise<CompiledDefinition | undefined>;
  /** The id of an event's version, bound or not; `undefined` when there is none. */
  findVersion(worldId: number, event: string, version: number): Promise<number | undefined>;
  /** A live schema as it is now; `undefined` when there is none of this name. */
  schema(worldId: number, name: string): Promise<CompiledSchema | undefined>;
  /** The names of a world's live schemas, up to 100, on behalf of a caller who may see it; none without the catalog. */
  schemaNames(world: string, call: CallContext): Promise<string[]>;
  /** The world's texts as they are now; `undefined` when it is gone. */
  world(worldId: number): Promise<WorldTexts | undefined>;
  claimSchemas: ClaimSchemas;
  /** Claims in the order of the versions. @throws `unknown_event`, `unknown_event_version` */
  claimVersions(
    deployment: { address: string; worldId: number },
    versions: readonly { event: string; version: number }[],
  ): Promise<VersionClaim[]>;
  /** Locks versions for a deployment's lock. */
  lock(
    worldId: number,
    versionIds: readonly number[],
  ): Promise<{ definitions: VersionDefinition[]; world: WorldTexts }>;
  /**
   * Releases these claims unless they have been made again; without any named, all of the deployment's. A claim whose
   * revision is unknown is left to the catalog's sweep.
   */
  release(
    address: string,
    some?: { versions?: readonly MadeClaim[]; schemas?: readonly MadeClaim[] },
  ): Promise<void>;
}

/** A claim on a version or a schema. The revision is null where an older catalog or an older runtime made it. */
export interface MadeClaim {
  readonly id: number;
  readonly revision: number | null;
}

export interface SchemaClaim extends MadeClaim {
  readonly name: string;
}

export interface VersionClaim extends MadeClaim {
  readonly event: string;
  readonly version: number;
  readonly definition: VersionDefinition;
}

/** Claims schemas for a deployment's first instances. @throws `unknown_entity_schema` */
export type ClaimSchemas = (
  deployment: { address: string; world_id: number },
  names: readonly string[],
) => Promise<SchemaClaim[]>;

/** How long the catalog has to answer, in milliseconds. */
const TIMEOUT_MS = 5000;

export interface CatalogClientOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  /**
   * Each call that confirms definitions waits for this first. The runtime gives the wait for a free commit slot: an
   * execution cannot commit before there is one, and until then more executions share the call (docs/adr/0010).
   */
  readonly beforeConfirm: () => Promise<void> | undefined;
}

export function createCatalogClient({ bus, clock, beforeConfirm }: CatalogClientOptions): CatalogClient {
  const { rpcs } = catalogContract;
  const options = () => serviceCall('runtime', clock, TIMEOUT_MS);
  const confirm = createConfirm(
    (request) => bus.call(rpcs['definitions.confirm'], request, options()),
    beforeConfirm,
  );
  const definitions = createDefinitions(confirm);
  return {
    version: definitions.version,
    findVersion: async (worldId, event, version) => {
      const request = { worldId, event, version };
      const { versionId } = await bus.call(rpcs['definitions.find'], request, options());
      return versionId ?? undefined;
    },
    schema: definitions.schema,
    schemaNames: async (worldAddress, call) => {
      const query = { page: 1, limit: MAX_LIMIT };
      const request = { params: { worldAddress }, query, headers: {}, body: {} };
      const listed = bus.call(rpcs['entitySchemas.list'], request, call);
      return (await listed.catch(() => ({ data: [] }))).data.map(({ name }) => name);
    },
    world: definitions.world,
    claimSchemas: async ({ address, world_id }, schemas) => {
      const request = { worldId: world_id, deployment: address, schemas: [...schemas] };
      const { definitions, revisions } = await bus.call(rpcs['claims.schemas'], request, options());
      return definitions.map(({ name, schemaId: id }) => ({ name, id, revision: revisions?.[id] ?? null }));
    },
    claimVersions: async ({ address, worldId }, versions) => {
      if (versions.length === 0) return [];
      const request = { worldId, deployment: address, versions: [...versions] };
      const { definitions, revisions } = await bus.call(rpcs['claims.versions'], request, options());
      return definitions.map((definition) => {
        const { event, version, versionId: id } = definition;
        return { event, version, id, revision: revisions?.[id] ?? null, definition };
      });
    },
    lock: (worldId, versionIds) =>
      bus.call(rpcs['definitions.lock'], { worldId, versionIds: [...versionIds] }, options()),
    release: async (deployment, some) => {
      const versions = known(some?.versions);
      const schemas = known(some?.schemas);
      if (some !== undefined && versions.length + schemas.length === 0) return;
      // An older catalog, which reads only ids, takes a request without any for the release of all claims.
      const named = some && { versions, schemas, versionIds: [], schemaIds: [] };
      await bus.call(rpcs['claims.release'], { deployment, ...named }, options());
    },
  };
}

const known = (claims: readonly MadeClaim[] = []): { id: number; revision: number }[] =>
  claims.flatMap(({ id, revision }) => (revision === null ? [] : [{ id, revision }]));
