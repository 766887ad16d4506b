import { type Bus, serviceCall } from '@orrery/bus';
import {
  catalogContract,
  type SchemaDefinition,
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
  /** A live schema as it is now; `undefined` when there is none of this name. */
  schema(worldId: number, name: string): Promise<CompiledSchema | undefined>;
  claimSchemas: ClaimSchemas;
  /** Definitions in the order of the versions. @throws `unknown_event`, `unknown_event_version` */
  claimVersions(
    deployment: { address: string; worldId: number },
    versions: readonly { event: string; version: number }[],
  ): Promise<VersionDefinition[]>;
  /** Locks versions for a deployment's lock. */
  lock(
    worldId: number,
    versionIds: readonly number[],
  ): Promise<{ definitions: VersionDefinition[]; world: WorldTexts }>;
  /** Releases these claims; without any named, all of the deployment's. */
  release(address: string, some?: { versionIds?: number[]; schemaIds?: number[] }): Promise<void>;
}

/** Claims schemas for a deployment's first instances. @throws `unknown_entity_schema` */
export type ClaimSchemas = (
  deployment: { address: string; world_id: number },
  names: readonly string[],
) => Promise<SchemaDefinition[]>;

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
    schema: definitions.schema,
    claimSchemas: async ({ address, world_id }, schemas) => {
      const request = { worldId: world_id, deployment: address, schemas: [...schemas] };
      return (await bus.call(rpcs['claims.schemas'], request, options())).definitions;
    },
    claimVersions: async ({ address, worldId }, versions) => {
      if (versions.length === 0) return [];
      const request = { worldId, deployment: address, versions: [...versions] };
      return (await bus.call(rpcs['claims.versions'], request, options())).definitions;
    },
    lock: (worldId, versionIds) =>
      bus.call(rpcs['definitions.lock'], { worldId, versionIds: [...versionIds] }, options()),
    release: async (address, some) => {
      await bus.call(rpcs['claims.release'], { deployment: address, ...some }, options());
    },
  };
}
