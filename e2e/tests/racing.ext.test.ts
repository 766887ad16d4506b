import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { startFiveProcesses } from '@orrery/testing/system';
import { playRacing } from './racing-suite.js';

describeWithNats('five processes, each with a database of its own', () => {
  const databases = new Map<string, string>();
  const databaseOf = (service: string) => databases.get(service) ?? '';
  const start = async (cleanUp: (() => Promise<void>)[]) => {
    const nats = await startNatsServer();
    cleanUp.push(nats.stop);
    for (const service of ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher']) {
      const database = await createTestDatabase();
      cleanUp.push(() => database.drop());
      databases.set(service, database.url);
    }
    const backends = { databaseUrl: databaseOf('gateway'), databaseOf, natsUrl: nats.url };
    return startFiveProcesses(backends);
  };
  return playRacing(start, { runtimeDatabase: () => databaseOf('runtime') });
});
