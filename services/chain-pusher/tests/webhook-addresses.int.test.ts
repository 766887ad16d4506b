import { BlockList } from 'node:net';
import { Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { makeCertificate, query, startWebhookReceiver } from '@orrery/testing/servers';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Resolve } from '../src/delivering/connect-to.js';
import { trustReceivers, webhookHouse } from './webhook-house.js';

trustReceivers();

const none = { allowedNetworks: new BlockList() };

it.each([
  'https://127.0.0.1:8443/',
  'https://2130706433/',
  'https://0177.0.0.1/',
  'https://0x7f.1/',
  'https://127.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[2002:7f00:1::]/',
  'https://169.254.169.254/latest/meta-data',
  'https://10.0.0.1/',
  'https://[fd00:ec2::254]/',
])('refuses %s where it is set', async (url) => {
  const { house, params, create, of } = await webhookHouse(none);
  const refused = { code: 'validation_failed', errors: [{ pointer: '/url', code: 'address_refused' }] };
  await expect(house.call('webhooks.create', { params, body: { url } })).rejects.toMatchObject(refused);
  const { id } = await create({ url: 'https://scores.test/' });
  await expect(house.call('webhooks.update', { ...of(id), body: { url } })).rejects.toMatchObject(refused);
});

it.each([
  'http://scores.test/',
  'ftp://scores.test/',
  'https://user:secret@scores.test/',
  'https://scores.test/#here',
  'https://scores.test:22/',
  'https://scores.test:80/',
  'https://',
  'scores.test',
  `https://scores.test/${'a'.repeat(2048)}`,
])('refuses %s for its form', async (url) => {
  const { create } = await webhookHouse(none);
  await expect(create({ url })).rejects.toMatchObject({ code: 'validation_failed' });
});

it('counts the characters of an address as it is stored', async () => {
  const { house, params, create, of } = await webhookHouse(none);
  const list = () => house.call('webhooks.list', { params, query: { page: 1, limit: 20 } });
  const url = `https://scores.test/${'é'.repeat(1500)}`;
  const refused = {
    code: 'validation_failed',
    errors: [{ pointer: '/url', message: expect.stringMatching(/it has 9020\./) }],
  };
  await expect(create({ url })).rejects.toMatchObject(refused);
  const fits = await create({ url: `https://scores.test/${'é'.repeat(338)}` });
  expect(fits.url).toHaveLength(2048);
  const change = house.call('webhooks.update', { ...of(fits.id), body: { url } });
  await expect(change).rejects.toMatchObject(refused);
  expect((await list()).data).toMatchObject([{ url: fits.url }]);
});

it('shows what was stored before its length was checked', async () => {
  const { house, params, create, get } = await webhookHouse(none);
  const { id } = await create({ url: 'https://scores.test/' });
  const url = `https://scores.test/${'%C3%A9'.repeat(1500)}`;
  await query(house.databaseUrl, `update chain_pusher.webhooks set url = '${url}'`);
  expect((await get(id)).url).toBe(url);
  const { data } = await house.call('webhooks.list', { params, query: { page: 1, limit: 20 } });
  expect(data).toMatchObject([{ url }]);
});

/** What each name leads to, one answer after the other. */
function names(answers: Readonly<Record<string, readonly (readonly string[])[]>>) {
  const asked: string[] = [];
  const resolve: Resolve = async (name) => {
    const before = asked.filter((one) => one === name).length;
    asked.push(name);
    const of = answers[name] ?? [];
    return of[Math.min(before, of.length - 1)] ?? [];
  };
  return { asked, resolve };
}

it('refuses names that lead to addresses which are not public, and connects to none of them', async () => {
  const { resolve } = names({
    'private.test': [['10.0.0.1']],
    'loopback.test': [['127.0.0.1']],
    'mixed.test': [['8.8.8.8', '127.0.0.1']],
    'mapped.test': [['::ffff:127.0.0.1']],
    'nat64.test': [['64:ff9b::7f00:1']],
    'sixtofour.test': [['2002:7f00:1::']],
    'metadata.test': [['169.254.169.254']],
    'local.test': [['fe80::1']],
  });
  const { receiver, create, execute, get } = await webhookHouse(none, resolve);
  const hosts = ['private', 'loopback', 'mixed', 'mapped', 'nat64', 'sixtofour', 'metadata', 'local'];
  const made = await Promise.all(
    hosts.map((host) => create({ url: `https://${host}.test:${receiver.port}/` })),
  );
  await execute();
  for (const { id } of made)
    await vi.waitFor(async () => expect((await get(id)).problem).toMatchObject({ code: 'address_refused' }));
  expect(receiver.connections()).toBe(0);
});

it('connects to the address that was checked, and checks a name again for each connection', async () => {
  const { asked, resolve } = names({ 'rebinding.hook.test': [['127.0.0.1'], ['10.0.0.1']] });
  const { receiver, create, execute, get, waitFor } = await webhookHouse({}, resolve);
  receiver.behave((_delivery, response) => {
    response.writeHead(200, { connection: 'close' }).end();
    return 'own';
  });
  const { id } = await create({ url: `https://rebinding.hook.test:${receiver.port}/hook` });
  await execute();
  await waitFor(1);
  expect(asked).toEqual(['rebinding.hook.test']);
  await execute();
  await vi.waitFor(async () => expect((await get(id)).problem).toMatchObject({ code: 'address_refused' }));
  expect(receiver.connections()).toBe(1);
});

it('refuses what the operator allows no longer', async () => {
  const { receiver, create, execute, get, boot, pusher } = await webhookHouse();
  const { id } = await create();
  await pusher[Symbol.asyncDispose]();
  await boot(none);
  await execute();
  await vi.waitFor(async () => expect((await get(id)).problem).toMatchObject({ code: 'address_refused' }));
  expect(receiver.connections()).toBe(0);
});

it('trusts no other certificate, and none of another name', async () => {
  const resources = new Resources(PATIENT);
  onTestFinished(() => resources.release());
  const stranger = await startWebhookReceiver(resources, await makeCertificate(resources));
  const { resolve } = names({ 'other.name': [['127.0.0.1']] });
  const { receiver, create, execute, get } = await webhookHouse({}, resolve);
  const untrusted = await create({ url: `${stranger.url}/` });
  const misnamed = await create({ url: `https://other.name:${receiver.port}/` });
  await execute();
  for (const { id } of [untrusted, misnamed])
    await vi.waitFor(async () => expect((await get(id)).problem).toMatchObject({ code: 'tls_failed' }));
  expect([...stranger.deliveries, ...receiver.deliveries]).toEqual([]);
});

it('bounds what it takes of an answer, and for how long', async () => {
  const { receiver, create, execute, get, deliveries } = await webhookHouse({ attemptMs: 1500 });
  const [endless, silent, dripping, broken, other] = await Promise.all(
    ['/endless', '/silent', '/dripping', '/broken', '/other'].map((path) => create({}, path)),
  );
  let sent = 0;
  receiver.behave(({ path }, response) => {
    if (path === '/silent') return 'hang';
    if (path === '/broken') {
      response.socket?.end('HTTP/1.1 abc\r\n\r\n');
      return 'own';
    }
    if (path === '/other') {
      response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
      return 'own';
    }
    if (path === '/dripping') {
      response.socket?.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => response.socket?.write('x-a: b\r\n'), 100);
      response.socket?.on('close', () => clearInterval(timer));
      return 'own';
    }
    response.writeHead(200);
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536))) sent += 65_536;
    };
    response.on('drain', write);
    write();
    return 'own';
  });
  await execute();
  await vi.waitFor(async () => expect((await get(endless?.id ?? '')).seq).toBe(2));
  const stopped = sent;
  const problemOf = async (made: { id: string } | undefined) => (await get(made?.id ?? '')).problem?.code;
  await vi.waitFor(async () => expect(await problemOf(silent)).toBe('timeout'));
  await vi.waitFor(async () => expect(await problemOf(dripping)).toMatch(/timeout|invalid_answer/));
  await vi.waitFor(async () => expect(await problemOf(broken)).toBe('invalid_answer'));
  await vi.waitFor(async () => expect(await problemOf(other)).toBe('connection_failed'));
  expect(await deliveries(endless?.id ?? '')).toMatchObject([{ state: 'delivered', responseStatus: 200 }]);
  // What the sockets' buffers hold.
  expect(stopped).toBeLessThan(20 * 1024 * 1024);
  expect(sent).toBe(stopped);
});

it('names of the loopback are those of the machine, whatever DNS says', async () => {
  const { receiver, create, execute, waitFor } = await webhookHouse();
  await create({ url: `https://localhost:${receiver.port}/hook` });
  await execute();
  await waitFor(1);
});
