import { readContentLimits } from '@orrery/service-host';
import { type Environment, readEnvironment, readTogether, wholeNumber } from '@orrery/service-kit';
import { z } from 'zod';
import type { CatalogLimits } from './core/limits.js';
import type { SweepTimes } from './sweeping/sweeps.js';

const KIB = 1024;
const limit = (fallback: number, max: number, what: string) =>
  wholeNumber({ min: 1, max, what: `${what}, 1 to ${max}` }).default(fallback);

const environment = z.object({
  MAX_SCHEMAS_PER_WORLD: limit(500, 10_000, 'entity schemas that a world may have'),
  MAX_ATTRIBUTES_PER_SCHEMA: limit(200, 1_000, 'attributes that an entity schema may have'),
  MAX_EVENTS_PER_WORLD: limit(500, 10_000, 'events that a world may have'),
  MAX_VERSIONS_PER_EVENT: limit(1_000, 100_000, 'versions that an event may have'),
  MAX_SCHEMA_KIB: limit(256, 1_024, 'KiB that the attributes of one entity schema may take'),
  MAX_VERSION_KIB: limit(256, 1_024, 'KiB that the definition of one version may take'),
  MAX_WORLD_SCHEMAS_KIB: limit(4_096, 16_384, 'KiB that the attributes of all schemas of a world may take'),
  CLAIM_SWEEP_INTERVAL_MS: limit(60_000, 86_400_000, 'milliseconds between two sweeps of claims'),
  CLAIM_GRACE_MS: limit(600_000, 86_400_000, 'milliseconds before the sweep checks a claim'),
});

export type { CatalogLimits };

export interface CatalogConfig extends SweepTimes {
  readonly limits: CatalogLimits;
}

/** @throws StartupError naming every variable that is wrong. */
export function readCatalogConfig(env: Environment): CatalogConfig {
  const { read, content } = readTogether({
    read: () => readEnvironment(environment, env),
    content: () => readContentLimits(env),
  });
  const { promptBytes, descriptionBytes, domainTags, domainTagCharacters } = content;
  return {
    limits: {
      promptBytes,
      descriptionBytes,
      domainTags,
      domainTagCharacters,
      schemasPerWorld: read.MAX_SCHEMAS_PER_WORLD,
      attributesPerSchema: read.MAX_ATTRIBUTES_PER_SCHEMA,
      eventsPerWorld: read.MAX_EVENTS_PER_WORLD,
      versionsPerEvent: read.MAX_VERSIONS_PER_EVENT,
      schemaBytes: read.MAX_SCHEMA_KIB * KIB,
      versionBytes: read.MAX_VERSION_KIB * KIB,
      worldSchemaBytes: read.MAX_WORLD_SCHEMAS_KIB * KIB,
    },
    sweepIntervalMs: read.CLAIM_SWEEP_INTERVAL_MS,
    claimGraceMs: read.CLAIM_GRACE_MS,
  };
}
