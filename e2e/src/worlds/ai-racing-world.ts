import { says } from '@orrery/testing/model-server';
import type { ApiClient } from '../api/api-client.js';
import { makeWorld, plant } from './make-world.js';
import { horseSchema } from './racing-world.js';

/** A race that a model decides. */
const race = {
  inputSchema: { weather: 'string' },
  outputSchema: { headline: 'string' },
  readEntities: [{ schema: 'horse' }],
  stateChanges: { horse: 'partial' },
  behaviorPrompt: 'The horses run a race.',
  mutationSettings: { mode: 'ai' },
  guards: { create: false, maxDelta: { wins: 1, stamina: 20 } },
};

/** Makes a world whose races a model decides, with three horses; answers paths below `/api`. */
export async function aiRacingWorld(api: ApiClient, settings: object = {}) {
  const made = await makeWorld(api, {
    name: 'Derby',
    promptSeed: 'A quiet racecourse.',
    schemas: [horseSchema],
    events: [{ name: 'race', firstVersion: race }],
  });
  const { address, path: deployment } = await made.deploy({ name: 'Season 1', ...settings });
  for (const id of ['HORSE_1', 'HORSE_2', 'HORSE_3']) await plant(api, deployment, 'horse', id);
  const run = (query = '') =>
    api.post(`${deployment}/execute${query}`, { event: 'race', input: { weather: 'rain' } });
  return { world: made.path, deployment, address, run };
}

/** A model as the operator lists it, at an address where nobody listens. Its key is in `SOME_KEY`. */
export const listedModel = (modelId: string, changes: object = {}) => ({
  modelId,
  modelDisplayName: modelId,
  modelDescription: 'A model of the tests.',
  contextLength: 8192,
  attestationSupported: false,
  verifiable: false,
  isDefault: false,
  baseUrl: 'http://127.0.0.1:1/v1',
  apiKeyEnv: 'SOME_KEY',
  ...changes,
});

/** A model for whose server HORSE_3 wins every race. */
export const thirdHorseWins = says({
  stateChanges: { 'horse:HORSE_3': { wins: 1 } },
  result: { headline: 'HORSE_3 wins!' },
});
