import { withClient } from '@orrery/testing/servers';
import { expect, it, vi } from 'vitest';
import { createRooms } from '../src/delivering/rooms.js';
import { newReceiver, trustReceivers, webhookHouse } from './webhook-house.js';

trustReceivers();

it('an account gets no more than its share of places, however many of them are claimed at once', () => {
  const rooms = createRooms({ quick: 4, slow: 3 }, { quick: 3, slow: 2 });
  expect(rooms.claimable('quick')).toEqual({ most: 3, crowded: [] });
  const own = [1, 1].map((account) => rooms.enter('quick', account));
  expect(rooms.claimable('quick')).toEqual({ most: 1, crowded: [] });
  own.push(rooms.enter('quick', 1));
  expect(rooms.claimable('quick')).toEqual({ most: 1, crowded: [1] });
  const other = rooms.enter('quick', null);
  expect(rooms.claimable('quick').most).toBe(0);
  // What hangs goes on among the slow ones as far as its account has places there; the rest stays where it is.
  for (const place of own) place.becomeSlow();
  expect(own.map((place) => place.isSlow())).toEqual([true, true, false]);
  other.becomeSlow();
  expect(other.isSlow()).toBe(true);
  expect(rooms.claimable('slow')).toEqual({ most: 0, crowded: [1] });
  for (const place of [...own, other]) place.leave();
  expect(rooms.claimable('slow')).toEqual({ most: 2, crowded: [] });
});

it('hundreds of receivers of one account that hang leave room for a slow, a new and a tried one of another', async () => {
  // What hangs does so for as long as the test goes on.
  const { house, create, execute, receiver, get, of } = await webhookHouse({
    attemptMs: 120_000,
    slowMs: 100,
  });
  const own = async (id: string) =>
    withClient(house.databaseUrl, (client) =>
      client.query('update chain_pusher.webhooks set account_id = 2 where id = $1', [id]),
    );
  const silent = await newReceiver();
  silent.behave(() => 'hang');
  const waiting: NodeJS.Timeout[] = [];
  receiver.behave(({ path }, response) => {
    if (path !== '/slow') return 200;
    waiting.push(setTimeout(() => response.writeHead(200).end(), 300));
    return 'own';
  });
  const slow = await create({}, '/slow');
  await own(slow.id);
  const cameTo = (path: string) => receiver.deliveries.filter((one) => one.path === path).length;
  await execute();
  await vi.waitFor(() => expect(cameTo('/slow')).toBe(1));

  for (let count = 0; count < 18; count += 1) {
    const crowd = house.runtime.createDeployment();
    const params = { worldAddress: '1', address: crowd };
    const made = Array.from({ length: 20 }, (_, at) =>
      house.call('webhooks.create', { params, body: { url: `${silent.url}/${count}/${at}` } }),
    );
    await Promise.all(made);
    house.runtime.execute(crowd);
    await house.runtime.tell(crowd);
  }
  await vi.waitFor(() => expect(silent.deliveries.length).toBeGreaterThanOrEqual(64 + 48));

  const quick = await create({}, '/quick');
  await own(quick.id);
  await execute();
  await vi.waitFor(() => expect([cameTo('/slow'), cameTo('/quick')]).toEqual([2, 1]));
  await house.call('webhooks.test', of(quick.id));
  await vi.waitFor(() => expect(cameTo('/quick')).toBe(2));
  await vi.waitFor(async () => expect((await get(slow.id)).behind).toBe(0));
  expect(silent.deliveries).toHaveLength(64 + 48);
  for (const timer of waiting) clearTimeout(timer);
});
