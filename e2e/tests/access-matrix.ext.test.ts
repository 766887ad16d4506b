import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { startFiveProcesses } from '@orrery/testing/system';
import { accessMatrix, unhurried } from './access-matrix-suite.js';

describeWithNats('five processes', () =>
  accessMatrix(async (cleanUp) => {
    const nats = await startNatsServer();
    const database = await createTestDatabase();
    cleanUp.push(() => database.drop(), nats.stop);
    const env = {
      ...unhurried,
      WEBHOOK_KEYS: '5a'.repeat(32),
      ORRERY_SIGNING_KEY: `orrery.test+${'5b'.repeat(32)}`,
    };
    return startFiveProcesses({ databaseUrl: database.url, natsUrl: nats.url }, env);
  }),
);
