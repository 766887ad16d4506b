import { createLogger } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { query } from '@orrery/testing/servers';
import { expect, it, vi } from 'vitest';
import { addDatabase, openDirectory, openRuntimeDatabase } from '../src/operator.js';
import { codeOf, plantDeployment, prepareHouse } from './running-runtime.js';

const logger = createLogger({ service: 'test', level: 'error' });
const house = await prepareHouse();

it('knows the deployments of the first database before their places are in the directory', async () => {
  const first = house.databaseUrl;
  const second = house.resources.use('database', await createTestDatabase()).url;
  await house.boot();
  const planted = await plantDeployment(house);
  const target = house.resources.use(
    'target',
    await openRuntimeDatabase({ logger, maxConnections: 2, databaseUrl: second }),
  );
  const directory = house.resources.use(
    'directory',
    await openDirectory({ databaseUrl: first, directoryUrl: undefined, applicationName: 'test', logger }),
  );
  await addDatabase(target.db, directory.db, '2');
  await house.boot({ databaseUrl: second, directoryUrl: first });
  const { address } = planted.deployment;
  const asked = [
    () => planted.execute({ id: 'x' }),
    () => house.ask('journal.range', { deployment: address, after: 0, limit: 1 }),
    () => house.ask('lifecycle.read', { deployment: address, after: 0 }),
  ];
  // Calls come to processes of both.
  for (let time = 0; time < 20; time += 1) await Promise.all(asked.map((ask) => ask()));
  const unknown = { ...planted.params, address: `0x${'0'.repeat(40)}` };
  expect(await codeOf(house.call('deployments.get', { params: unknown }))).toBe('deployment_not_found');
  const compared = async () =>
    (
      await query(first, 'select name from directory.databases where compared_at is not null order by name')
    ).map(({ name }) => name);
  expect(await compared()).toEqual(['2']);
  await query(first, "update directory.databases set added_at = now() - interval '1 hour'");
  await vi.waitFor(async () => expect(await compared()).toEqual(['1', '2']));
  expect(await query(first, 'select address from directory.places')).toEqual([{ address }]);
  await planted.execute({ id: 'x' });
});
