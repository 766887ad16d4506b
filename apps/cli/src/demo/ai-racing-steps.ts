import type { ExecutionAnswer, HistoryEntry } from '@orrery/contracts';
import { bindEvents, execute, horse, horseSchema, type Step, verifyHistory, world } from './racing-steps.js';

const race = (number: number, weather: string): Step => ({
  ...execute(`Race ${number}, ${weather}`, 'race', { raceId: `R${number}`, weather }),
  shown: ({ stateChanges, result }: ExecutionAnswer) => ({ result, stateChanges }),
  // A model may propose what is not allowed, or think for too long.
  mayFail: ['ai_output_invalid', 'deadline_exceeded'],
});

/** A season of races that a model decides: it reads all horses and proposes how the race changes them. */
export const aiRacingSteps: readonly Step[] = [
  world(
    'Derby, told by a model',
    'A quiet country racecourse. Its horses tire, and grow faster with each race.',
  ),
  horseSchema,
  {
    says: 'An event that a model decides, and the guards that bound it',
    method: 'POST',
    path: '/worlds/{world}/events',
    body: {
      name: 'race',
      firstVersion: {
        inputSchema: { raceId: 'string', weather: 'string' },
        outputSchema: { headline: 'string' },
        readEntities: [{ schema: 'horse' }],
        stateChanges: { horse: 'partial' },
        behaviorPrompt:
          'All horses run one race. Decide by their speed, their stamina and the weather who wins: add 1 to the winner\'s "wins". A race costs each horse 5 to 20 stamina. The headline tells the race in one sentence.',
        mutationSettings: { mode: 'ai' },
        guards: { create: false, maxDelta: { wins: 1, speed: 1, stamina: 20 } },
      },
    },
  },
  bindEvents('A deployment with the event bound', 'race'),
  horse('HORSE_1'),
  horse('HORSE_2', { speed: 11 }),
  horse('HORSE_3', { speed: 12, stamina: 80 }),
  race(1, 'dry'),
  race(2, 'rain'),
  race(3, 'fog'),
  race(4, 'dry'),
  {
    says: 'What the last race recorded of the model',
    method: 'GET',
    path: '/worlds/{world}/deployments/{deployment}/history?limit=1',
    shown: ([{ llm }]: [HistoryEntry]) => ({ model: llm?.model, usage: llm?.usage, attempts: llm?.attempts }),
  },
  verifyHistory,
];
