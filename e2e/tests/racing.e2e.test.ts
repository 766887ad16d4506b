import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { startFiveProcesses } from '@orrery/testing/system';
import { describe } from 'vitest';
import { startSystem } from '../src/starting/start-system.js';
import { playRacing } from './racing-suite.js';

describe('a system', () => playRacing(() => startSystem()));

describeWithNats('five processes', () => {
  const models = join(tmpdir(), `orrery-models-${randomUUID()}.json`);
  return playRacing(
    async (cleanUp) => {
      await writeFile(models, '[]');
      const nats = await startNatsServer();
      const database = await createTestDatabase();
      cleanUp.push(
        () => database.drop(),
        nats.stop,
        () => rm(models),
      );
      const env = { AI_MODELS_FILE: models, SOME_KEY: 'sk-very-secret' };
      return startFiveProcesses({ databaseUrl: database.url, natsUrl: nats.url }, env);
    },
    { models },
  );
});
