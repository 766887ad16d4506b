import type { ApiClient } from '../api/api-client.js';
import { makeWorld, plant } from './make-world.js';

export const horseSchema = {
  name: 'horse',
  attributes: [
    { name: 'wins', type: 'integer', defaultValue: 0, constraints: { min: 0 } },
    { name: 'speed', type: 'float', defaultValue: 10 },
    { name: 'stamina', type: 'integer', defaultValue: 100, constraints: { min: 0, max: 100 } },
  ],
};

export const raceResult = {
  name: 'race_result',
  firstVersion: {
    inputSchema: { raceId: 'string', winner: 'string' },
    stateChanges: { horse: 'partial' },
    mutationSettings: {
      mode: 'direct',
      template: {
        stateChanges: {
          'horse:{{input.winner}}': { wins: { $increment: 1 }, stamina: { $increment: -20 } },
        },
        result: { headline: '{{input.winner}} wins {{input.raceId}}' },
      },
    },
  },
};

export const training = {
  name: 'training',
  firstVersion: {
    inputSchema: { horse: 'string', hours: 'integer' },
    readEntities: [{ schema: 'horse', filter: ['horse'] }],
    stateChanges: { horse: 'partial' },
    mutationSettings: {
      mode: 'direct',
      template: {
        'horse:{{input.horse}}': { speed: '{{ entities.horse[input.horse].speed + 0.5 * input.hours }}' },
      },
    },
  },
};

/** Makes the README's racing world with one horse; answers the deployment's path below `/api`. */
export async function racingWorld(api: ApiClient): Promise<{ world: string; deployment: string }> {
  const made = await makeWorld(api, {
    name: 'Derby',
    schemas: [horseSchema],
    events: [raceResult, training],
  });
  const { path: deployment } = await made.deploy({ name: 'Season 1' });
  await plant(api, deployment, 'horse', 'HORSE_1');
  return { world: made.path, deployment };
}
