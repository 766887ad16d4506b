import type { JsonObject, VersionDefinition, WorldTexts } from '@orrery/contracts';
import { definitionOf } from '../deciding/execution.test-support.js';
import type { Model } from './model.js';

export const world: WorldTexts = {
  name: 'Racing',
  description: 'Horses race.',
  domainTags: ['sport'],
  promptSeed: 'It rains a lot here.',
  hash: 'c'.repeat(64),
};

/** An event that may change horses, and reads a course. */
export const raceDefinition = (more: Partial<VersionDefinition> = {}): VersionDefinition => ({
  ...definitionOf({
    schemas: {
      horse: {
        wins: ['integer', { constraints: { min: 0, max: 100, required: true }, defaultValue: 0 }],
        name: ['string', { constraints: { pattern: '^[A-Z]' } }],
        gait: ['string', { constraints: { enum: ['trot', 'gallop'] } }],
        speed: 'float',
        tired: 'boolean',
        gear: 'json',
      },
      course: { length: 'integer' },
    },
    behaviorPrompt: 'Let the fittest horse win.',
    stateChanges: { horse: 'partial' },
    readEntities: [{ schema: 'horse' }, { schema: 'course' }],
    outputSchema: { winner: 'string', time: 'float?' },
  }),
  ...more,
});

export const entities: JsonObject = {
  horse: { HORSE_1: { wins: 3, name: 'Ada', gear: ['saddle'] }, HORSE_2: { wins: 1 } },
  course: { ASCOT: { length: 1200 } },
};

export const modelAt = (baseUrl: string, more: Partial<Model> = {}): Model => ({
  record: {
    modelId: 'racing/large',
    modelDisplayName: 'Large',
    modelDescription: 'For tests.',
    contextLength: 32_768,
    attestationSupported: false,
    verifiable: false,
    isDefault: true,
  },
  baseUrl,
  apiKey: 'sk-secret',
  upstreamModel: 'large-1',
  timeoutMs: 60_000,
  ...more,
});
