import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { says, startModelServer } from '@orrery/testing/model-server';
import type { System } from '@orrery/testing/system';
import { startSystem } from '../starting/start-system.js';
import { listedModel } from '../worlds/ai-racing-world.js';

const verdict = says({ stateChanges: { 'horse:HOT': { odds: 2 } }, result: { verdict: 'fair' } });

/** A system with a model, which judges every race to be fair. */
export async function startJudgedSystem(databaseUrl: string): Promise<System & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-judge-'));
  const server = await startModelServer({ behaves: verdict });
  const file = join(folder, 'models.json');
  const model = listedModel('judge', { isDefault: true, baseUrl: server.baseUrl, apiKeyEnv: null });
  await writeFile(file, JSON.stringify([model]));
  const system = await startSystem(databaseUrl, { AI_MODELS_FILE: file, RATE_LIMITS: 'false' });
  return {
    ...system,
    [Symbol.asyncDispose]: async () => {
      await system[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}
