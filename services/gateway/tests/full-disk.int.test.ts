import { catalogContract, defineContract, ServiceError } from '@orrery/contracts';
import { fillDisk } from '@orrery/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { ask, startReplicas } from './support/started-gateway.js';

/** A service with a database of its own, whose disk is full. */
async function startBesideFullService() {
  const system = await startReplicas(1);
  onTestFinished(() => system[Symbol.asyncDispose]());
  const contract = defineContract('catalog', { 'worlds.create': catalogContract.rpcs['worlds.create'] });
  await system.bus.serve(contract, {
    'worlds.create': () => Promise.reject(new ServiceError('storage_full')),
  });
  const url = system.urls[0] ?? '';
  const write = async () => (await ask(url, 'POST', '/api/worlds', system.token, { name: 'w' })).body.code;
  const readiness = async () => (await ask(url, 'GET', '/readyz')).body;
  return { databaseUrl: system.databaseUrl, write, readiness };
}

it('stays ready while only the disk of another database is full, and is not ready once its own is', async () => {
  const { databaseUrl, write, readiness } = await startBesideFullService();
  for (let written = 0; written < 5; written += 1) {
    expect(await write()).toBe('storage_full');
    expect(await readiness()).toMatchObject({ status: 'ok' });
  }
  const disk = await fillDisk(databaseUrl, 'gateway.keys');
  expect(await write()).toBe('storage_full');
  await expect.poll(readiness).toMatchObject({
    status: 'unavailable',
    checks: { 'gateway storage': { detail: 'the disk of the database is full' } },
  });
  await disk.release();
  await expect.poll(readiness).toMatchObject({ status: 'ok' });
});
