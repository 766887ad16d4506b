import { createLogger } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { query } from '@orrery/testing/servers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { accountHeard } from '../src/operations/deployments/places.js';
import { addDatabase, openDirectory, openRuntimeDatabase } from '../src/operator.js';
import { codeOf, plantDeployment, prepareHouse } from './running-runtime.js';

const logger = createLogger({ service: 'test', level: 'error' });
const house = await prepareHouse();
const first = house.databaseUrl;
const second = house.resources.use('database', await createTestDatabase()).url;
const bootSecond = () => house.boot({ databaseUrl: second, directoryUrl: first });

it('knows the deployments of the first database before their places are in the directory', async () => {
  await using _ = await house.boot();
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
  // The first one is compared a while after this; that is set back below.
  await query(first, "update directory.databases set added_at = now() + interval '1 hour'");
  await using __ = await bootSecond();
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

it('tells no other process of the accounts that each one compares', async () => {
  await using _ = await house.boot();
  const listening = new AbortController();
  onTestFinished(() => listening.abort());
  const told: number[] = [];
  await house.bus.listen(accountHeard, ({ accountId }) => told.push(accountId), listening.signal);
  const stateOf = (accountId: number) => ({ accountId, disabled: false, quotas: {}, revision: 1 });
  for (let id = 5001; id <= 6000; id += 1) house.accounts.set(id, stateOf(id));
  onTestFinished(() => house.accounts.clear());
  await using comparing = await bootSecond();
  await vi.waitFor(async () =>
    expect(await query(second, 'select from runtime.accounts where account_id > 5000')).toHaveLength(1000),
  );
  // What was broadcast before this one has come before it.
  await comparing.context.bus.broadcast(accountHeard, stateOf(6001));
  await vi.waitFor(() => expect(told).toContain(6001));
  expect(told).toEqual([6001]);
});
