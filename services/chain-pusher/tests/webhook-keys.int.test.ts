import { randomBytes } from 'node:crypto';
import { query } from '@orrery/testing/servers';
import { expect, it, vi } from 'vitest';
import { trustReceivers, verified, webhookHouse } from './webhook-house.js';

trustReceivers();

/** A webhook whose secret the one process that runs cannot read: another one, with a newer key, has encrypted it anew. */
async function unreadable() {
  const house = await webhookHouse();
  const { databaseUrl } = house.house;
  const { id, secret } = await house.create();
  const newKeys = [randomBytes(32), ...house.keys];
  const sealed = () => query<{ secret: string }>(databaseUrl, 'select secret from chain_pusher.webhooks');
  const before = await sealed();
  const newer = await house.boot({ keys: newKeys });
  await vi.waitFor(async () => expect(await sealed()).not.toEqual(before));
  await newer[Symbol.asyncDispose]();
  const set = (what: string) => query(databaseUrl, `update chain_pusher.webhooks set ${what}`);
  const is = (state: object) =>
    vi.waitFor(async () => expect(await house.get(id)).toMatchObject({ problem: UNREADABLE, ...state }));
  return { ...house, id, secret, set, is, bootNewer: () => house.boot({ keys: newKeys }) };
}

const UNREADABLE = { code: 'secret_unreadable' };

it('a process without the key of a secret leaves the webhook to one that has it', async () => {
  const { execute, pusher, bootNewer, is, set, waitFor, received, secret, get, id } = await unreadable();
  const entry = await execute();
  await is({ state: 'retrying', disabledAt: null });
  expect(received()).toEqual([]);
  await pusher[Symbol.asyncDispose]();
  await bootNewer();
  await set('due_at = now()');
  await waitFor(1);
  const [delivery] = received();
  expect(delivery && verified(secret, delivery)).toMatchObject({ id: entry.id });
  await vi.waitFor(async () => expect(await get(id)).toMatchObject({ state: 'active', problem: null }));
});

it('a secret that cannot be read is looked at again within a minute, and for 5 days', async () => {
  const { execute, is, set, get, id, deliveries } = await unreadable();
  // As after hours of failures.
  await set("failures = 8, failing_since = now() - interval '4 days'");
  await execute();
  await is({ state: 'retrying' });
  const { nextAttemptAt } = await get(id);
  expect(Date.parse(nextAttemptAt ?? '') - Date.now()).toBeLessThanOrEqual(60_000);
  await set("failing_since = now() - interval '5 days', due_at = now()");
  await is({ state: 'disabled' });
  expect((await deliveries(id))[0]).toMatchObject({ state: 'failed', problem: UNREADABLE });
});
