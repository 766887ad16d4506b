import type { JsonObject, VersionDefinition } from '@orrery/contracts';
import { definitionOf } from '../execution/execution.test-support.js';

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
