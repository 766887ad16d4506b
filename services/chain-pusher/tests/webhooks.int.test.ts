import { randomBytes } from 'node:crypto';
import { query } from '@orrery/testing/servers';
import { describe, expect, it, vi } from 'vitest';
import { OWNER } from './fake-runtime.js';
import { OTHER } from './running-pusher.js';
import { failsForLong, trustReceivers, verified, webhookHouse } from './webhook-house.js';

trustReceivers();

describe('deliveries', () => {
  it('follow the journal in order, signed, and show what anyone may read', async () => {
    const { create, execute, received, waitFor, deliveries, get } = await webhookHouse();
    const before = await execute();
    const { id, secret } = await create();
    const entries = [await execute(), await execute({ status: 'failed' }), await execute()];
    await waitFor(3);
    const bodies = received().map((one) => verified(secret, one));
    expect(bodies.map((body) => body.id)).toEqual(entries.map((entry) => entry.id));
    expect(received().map(({ headers }) => headers['webhook-id'])).toEqual(entries.map((entry) => entry.id));
    expect(bodies.map((body) => body.id)).not.toContain(before.id);
    for (const hidden of ['worldAddress', 'inputHash', 'binding', 'llm'])
      expect(bodies[0]).not.toHaveProperty(hidden);
    expect(bodies[0]).toMatchObject({ seq: 3, kind: 'execution', event: 'race', hash: entries[0]?.hash });
    await vi.waitFor(async () =>
      expect((await deliveries(id)).map(({ state }) => state)).toEqual(Array(3).fill('delivered')),
    );
    expect((await deliveries(id))[0]).toMatchObject({
      number: 3,
      kind: 'entry',
      seq: 5,
      attempts: 1,
      responseStatus: 200,
    });
    expect(await get(id)).toMatchObject({ state: 'active', seq: 5, behind: 0, problem: null });
  });

  it('are those that the filters want', async () => {
    const { create, execute, waitFor, received, get } = await webhookHouse();
    await create({ events: ['sale'] }, '/sales');
    await create({ status: 'failed' }, '/failures');
    const { id } = await create({ events: ['race', 'sale'], status: 'succeeded' }, '/both');
    const race = await execute();
    const failure = await execute({ status: 'failed' });
    const sale = await execute({ event: 'sale' } as object);
    await Promise.all([waitFor(1, '/sales'), waitFor(1, '/failures'), waitFor(2, '/both')]);
    await vi.waitFor(async () => expect((await get(id)).seq).toBe(4));
    const ids = (path: string) => received(path).map(({ headers }) => headers['webhook-id']);
    expect(ids('/sales')).toEqual([sale.id]);
    expect(ids('/failures')).toEqual([failure.id]);
    expect(ids('/both')).toEqual([race.id, sale.id]);
  });

  it('come although nobody told that the journal has grown', async () => {
    const { create, house, deployment, waitFor } = await webhookHouse();
    await create();
    house.runtime.execute(deployment);
    await waitFor(1);
  });

  it('wait in order behind one that fails, and go on when it is taken', async () => {
    const { create, execute, receiver, waitFor, received, get, of, house, deliveries } = await webhookHouse();
    const { id } = await create();
    receiver.behave(failsForLong);
    const entries = [await execute(), await execute()];
    await waitFor(1);
    await vi.waitFor(async () => expect((await get(id)).state).toBe('retrying'));
    expect(await get(id)).toMatchObject({ problem: { code: 'http_status' }, seq: 1 });
    await vi.waitFor(async () => expect((await get(id)).behind).toBe(2));
    expect(await deliveries(id)).toMatchObject([
      { number: 1, state: 'retrying', responseStatus: 500, attempts: 1 },
    ]);
    receiver.behave(() => 204);
    await house.call('webhooks.update', { ...of(id), body: { isEnabled: true } });
    await waitFor(3);
    expect(received().map(({ headers }) => headers['webhook-id'])).toEqual(
      [entries[0], ...entries].map((one) => one?.id),
    );
    await vi.waitFor(async () =>
      expect(await deliveries(id)).toMatchObject([
        { number: 2, state: 'delivered', attempts: 1 },
        { number: 1, state: 'delivered', attempts: 2, problem: null },
      ]),
    );
    expect(await get(id)).toMatchObject({ state: 'active', failingSince: null, problem: null });
  });

  it('are given up where new filters do not want them, and others are deliveries of their own', async () => {
    const { create, execute, receiver, get, of, house, deliveries } = await webhookHouse();
    const { id } = await create();
    receiver.behave(failsForLong);
    const race = await execute();
    await vi.waitFor(async () => expect((await get(id)).state).toBe('retrying'));
    receiver.behave(() => 204);
    await house.call('webhooks.update', { ...of(id), body: { events: ['sale'] } });
    const sale = await execute({ event: 'sale' } as object);
    await vi.waitFor(async () =>
      expect(await deliveries(id)).toMatchObject([
        { number: 2, historyId: sale.id, state: 'delivered', attempts: 1 },
        { number: 1, historyId: race.id, state: 'failed', attempts: 1, responseStatus: 500 },
      ]),
    );
  });

  it.each([
    [301, 'redirected'],
    [404, 'http_status'],
  ])('that are answered %s failed', async (status, code) => {
    const { create, execute, receiver, get, waitFor } = await webhookHouse();
    const { id } = await create();
    receiver.behave((_delivery, response) => {
      response.writeHead(status, { location: `${receiver.url}/elsewhere`, 'retry-after': '3600' }).end();
      return 'own';
    });
    await execute();
    await waitFor(1);
    await vi.waitFor(async () =>
      expect(await get(id)).toMatchObject({ state: 'retrying', problem: { code } }),
    );
    expect(receiver.deliveries).toHaveLength(1);
  });

  it('end with 410 and after 5 days of failures, with the reason', async () => {
    const { create, execute, receiver, get, house, of, waitFor } = await webhookHouse();
    const gone = await create({}, '/gone');
    const failing = await create({}, '/failing');
    receiver.behave(({ path }) => (path === '/gone' ? 410 : 503));
    await execute();
    await vi.waitFor(async () =>
      expect(await get(gone.id)).toMatchObject({ state: 'disabled', problem: { code: 'gone' } }),
    );
    await vi.waitFor(async () => expect((await get(failing.id)).state).toBe('retrying'));
    await query(
      house.databaseUrl,
      `update chain_pusher.webhooks set failing_since = now() - interval '5 days', due_at = now() where id = '${failing.id}'`,
    );
    await vi.waitFor(async () => expect((await get(failing.id)).state).toBe('disabled'));
    const disabled = await get(failing.id);
    expect(disabled.problem?.detail).toContain('for 5 days. The last attempt: It answered 503.');
    expect(disabled.disabledAt).not.toBeNull();
    // Enabled again it goes on where it stopped.
    receiver.behave(() => 200);
    await house.call('webhooks.update', { ...of(failing.id), body: { isEnabled: true } });
    await waitFor(3, '/failing');
    await vi.waitFor(async () =>
      expect(await get(failing.id)).toMatchObject({ state: 'active', disabledAt: null }),
    );
  });

  it('wait while the account is disabled', async () => {
    const { create, execute, house, waitFor, received } = await webhookHouse();
    await create();
    const state = { accountId: OWNER, quotas: {}, revision: 1 };
    await house.announce({ ...state, disabled: true });
    await vi.waitFor(async () =>
      expect(await query(house.databaseUrl, 'select disabled from chain_pusher.accounts')).toEqual([
        { disabled: true },
      ]),
    );
    await execute();
    await vi.waitFor(async () =>
      expect(
        await query(
          house.databaseUrl,
          "select from chain_pusher.webhooks where due_at < now() - interval '1 second'",
        ),
      ).toHaveLength(1),
    );
    expect(received()).toEqual([]);
    await house.announce({ ...state, revision: 2, disabled: false });
    await waitFor(1);
  });

  it('are not lost with their process, nor made by two at once', async () => {
    const { create, execute, receiver, boot, pusher, received, waitFor, get } = await webhookHouse();
    const { id, secret } = await create();
    receiver.behave(() => 'hang');
    const first = await execute();
    await waitFor(1);
    const others = [await boot(), await boot()];
    // It has sent the entry, and ends before the answer.
    await pusher[Symbol.asyncDispose]();
    receiver.behave(() => 200);
    const entries = [first, ...(await Promise.all(Array.from({ length: 20 }, () => execute())))];
    await vi.waitFor(async () => expect((await get(id)).seq).toBe(entries.at(-1)?.seq));
    expect(others).toHaveLength(2);
    const seqs = received().map((one) => verified(secret, one).seq);
    expect(seqs).toEqual([first.seq, ...entries.map(({ seq }) => seq)]);
  });

  it('end with the deployment, also of a webhook that fails', async () => {
    const { create, execute, receiver, house, deployment, waitFor } = await webhookHouse();
    await create();
    receiver.behave(failsForLong);
    await execute();
    await waitFor(1);
    house.runtime.append(deployment, 'deleted', {});
    await house.runtime.tellLifecycle(deployment);
    const left = () => query(house.databaseUrl, 'select from chain_pusher.webhooks');
    await vi.waitFor(async () => expect(await left()).toEqual([]));
  });

  it('are asked for once more, and tested, whatever state it is in', async () => {
    const { create, execute, receiver, house, of, deliveries, received, waitFor, get } = await webhookHouse();
    const { id, secret } = await create();
    receiver.behave(failsForLong);
    const entry = await execute();
    await vi.waitFor(async () => expect((await get(id)).state).toBe('retrying'));
    receiver.behave(() => 200);
    const asked = await house.call('webhooks.redeliver', { ...of(id), body: { historyId: entry.id } });
    expect(asked.data).toMatchObject({ number: 2, kind: 'redelivery', state: 'queued', seq: entry.seq });
    // A receiver that takes it again is sent what waits.
    await waitFor(3);
    await vi.waitFor(async () => expect((await get(id)).state).toBe('active'));
    const tested = await house.call('webhooks.test', of(id));
    expect(tested.data).toMatchObject({ kind: 'test', historyId: null, state: 'queued' });
    await waitFor(4);
    const last = received().at(-1);
    expect(last && verified(secret, last)).toMatchObject({ kind: 'test' });
    await vi.waitFor(async () =>
      expect((await deliveries(id)).map(({ kind, state }) => `${kind} ${state}`)).toEqual([
        'test delivered',
        'redelivery delivered',
        'entry delivered',
      ]),
    );
    await house.call('webhooks.update', { ...of(id), body: { isEnabled: false } });
    const later = await execute();
    await expect(
      house.call('webhooks.redeliver', { ...of(id), body: { historyId: later.id } }),
    ).rejects.toMatchObject({ code: 'delivery_pending' });
    await expect(
      house.call('webhooks.redeliver', { ...of(id), body: { historyId: 'nothing' } }),
    ).rejects.toMatchObject({ code: 'history_entry_not_found' });
  });
});

describe('secrets', () => {
  it('are encrypted where they are stored', async () => {
    const { create, house } = await webhookHouse();
    const { secret } = await create();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const [row] = await query(house.databaseUrl, 'select * from chain_pusher.webhooks');
    expect(JSON.stringify(row)).not.toContain(secret.slice('whsec_'.length));
  });

  it('sign beside the one that replaces them, until their time is over', async () => {
    const { create, execute, house, of, waitFor, received } = await webhookHouse();
    const { id, secret } = await create();
    const { data: replaced } = await house.call('webhooks.rotateSecret', of(id));
    // Receivers that have the first alone would lose what comes.
    await expect(house.call('webhooks.rotateSecret', of(id))).rejects.toMatchObject({
      code: 'limit_reached',
      facts: { until: expect.stringMatching(/Z$/) },
    });
    await execute();
    await waitFor(1);
    const [first] = received();
    for (const one of [secret, replaced.secret]) expect(first && verified(one, first)).toBeDefined();
    const { data: last } = await house.call('webhooks.rotateSecret', {
      ...of(id),
      query: { graceSeconds: '0' },
    });
    await execute();
    await waitFor(2);
    const second = received()[1];
    expect(second && verified(last.secret, second)).toBeDefined();
    for (const one of [secret, replaced.secret])
      expect(() => second && verified(one, second)).toThrow(/signature/i);
  });

  it('follow the keys of the operator, and say when none opens them', async () => {
    const { create, execute, house, boot, pusher, keys, get, of, waitFor, received } = await webhookHouse();
    const { id, secret } = await create();
    await pusher[Symbol.asyncDispose]();
    const sealed = () =>
      query<{ secret: string }>(house.databaseUrl, 'select secret from chain_pusher.webhooks');
    const first = await sealed();
    const next = randomBytes(32);
    const second = await boot({ keys: [next, ...keys] });
    await execute();
    await waitFor(1);
    // It is encrypted anew in the background.
    await vi.waitFor(async () => expect(await sealed()).not.toEqual(first));
    const before = await sealed();
    await second[Symbol.asyncDispose]();
    const third = await boot({ keys: [next] });
    await execute();
    await waitFor(2);
    for (const one of received()) expect(verified(secret, one)).toBeDefined();
    expect(await sealed()).toEqual(before);
    await third[Symbol.asyncDispose]();
    await boot({ keys: [randomBytes(32)] });
    await execute();
    await vi.waitFor(async () =>
      expect(await get(id)).toMatchObject({ state: 'retrying', problem: { code: 'secret_unreadable' } }),
    );
    const { data } = await house.call('webhooks.rotateSecret', of(id));
    await house.call('webhooks.update', { ...of(id), body: { isEnabled: true } });
    await waitFor(3);
    const last = received().at(-1);
    expect(last && verified(data.secret, last)).toBeDefined();
  });
});

describe('the operations', () => {
  it('make one webhook for an Idempotency-Key, and answer its secret to a repetition', async () => {
    const { house, params, receiver, execute, waitFor, received, of } = await webhookHouse();
    const create = (body: object = {}) =>
      house.call('webhooks.create', {
        ...{ params, headers: { 'idempotency-key': 'k' } },
        body: { url: `${receiver.url}/hook`, ...body },
      });
    const [first, second] = await Promise.all([create(), create()]);
    expect(second).toEqual(first);
    await expect(create({ status: 'failed' })).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await execute();
    await waitFor(1);
    const [delivery] = received();
    expect(delivery && verified(first.data.secret, delivery)).toBeDefined();
    const stored = await query(house.databaseUrl, 'select reply from chain_pusher.idempotency_keys');
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(first.data.secret.slice('whsec_'.length));
    // It is the first answer, whatever became of the webhook.
    await house.call('webhooks.delete', of(first.data.id));
    expect(await create()).toEqual(first);
    expect((await house.call('webhooks.list', { params, query: { page: 1, limit: 20 } })).data).toEqual([]);
  });

  it('warn of events that the deployment does not bind, and take them', async () => {
    const { house, params, receiver, of } = await webhookHouse();
    const created = (events: readonly string[] | null) =>
      house.call('webhooks.create', { params, body: { url: `${receiver.url}/hook`, events } });
    const { data, warnings } = await created(['race', 'slae', 'weather']);
    expect(data.events).toEqual(['race', 'slae', 'weather']);
    expect(warnings).toEqual([
      {
        ...{ pointer: '/events/1', code: 'event_not_bound', suggestion: 'Write "sale".' },
        message:
          'The event "slae" is not bound. Did you mean "sale"? Nothing of it is sent until the deployment binds it.',
      },
      {
        ...{ pointer: '/events/2', code: 'event_not_bound', suggestion: expect.stringMatching(/^Bind /) },
        message: 'The event "weather" is not bound. Nothing of it is sent until the deployment binds it.',
      },
    ]);
    const change = async (body: object) => house.call('webhooks.update', { ...of(data.id), body });
    expect(await change({ events: ['slae'] })).toMatchObject({ warnings: [{ pointer: '/events/0' }] });
    for (const body of [{ events: ['sale'] }, { events: null }, { status: 'failed' }])
      expect(await change(body)).not.toHaveProperty('warnings');
    // A runtime that says nothing of its bindings is waited for by no webhook.
    for (const silent of [undefined, 'never'] as const) {
      house.runtime.setBound(silent);
      expect(await created(['slae'])).not.toHaveProperty('warnings');
    }
  });

  it('say that the secret of a webhook is to be replaced where no key opens the first answer', async () => {
    const { house, params, receiver, pusher, boot } = await webhookHouse();
    const create = () =>
      house.call('webhooks.create', {
        ...{ params, headers: { 'idempotency-key': 'k' } },
        body: { url: `${receiver.url}/hook` },
      });
    const { data } = await create();
    await pusher[Symbol.asyncDispose]();
    await boot({ keys: [randomBytes(32)] });
    await expect(create()).rejects.toMatchObject({
      code: 'webhooks_unavailable',
      message: expect.stringContaining(`The webhook ${data.id} was created`),
    });
  });

  it('are for the owner alone', async () => {
    const { create, house, of, params } = await webhookHouse();
    const { id } = await create();
    for (const name of ['webhooks.get', 'webhooks.delete', 'webhooks.test', 'webhooks.rotateSecret'] as const)
      await expect(house.call(name, of(id), OTHER)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(
      house.call('webhooks.list', { params, query: { page: 1, limit: 20 } }, OTHER),
    ).rejects.toMatchObject({ code: 'forbidden' });
    for (const other of [crypto.randomUUID(), 'nothing'])
      await expect(house.call('webhooks.get', of(other))).rejects.toMatchObject({
        code: 'webhook_not_found',
      });
  });

  it('bound webhooks and what is asked for', async () => {
    const { create, house, of, params, receiver } = await webhookHouse();
    receiver.behave(() => 'hang');
    const made = await Promise.allSettled(Array.from({ length: 25 }, () => create()));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    const { data } = await house.call('webhooks.list', { params, query: { page: 1, limit: 100 } });
    expect(data).toHaveLength(20);
    const id = data[0]?.id ?? '';
    const asked = await Promise.allSettled(
      Array.from({ length: 40 }, () => house.call('webhooks.test', of(id))),
    );
    expect(asked.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    await house.call('webhooks.delete', of(id));
    await create();
  });

  it('stop what is disabled by hand', async () => {
    const { create, execute, house, of, get, received, waitFor } = await webhookHouse();
    const off = await create({}, '/off');
    await create({}, '/on');
    await house.call('webhooks.update', { ...of(off.id), body: { isEnabled: false } });
    await execute();
    await waitFor(1, '/on');
    expect(received('/off')).toEqual([]);
    expect(await get(off.id)).toMatchObject({ state: 'disabled', problem: { code: 'disabled' } });
  });

  it('refuse what-if forks', async () => {
    const { create, house, deployment } = await webhookHouse();
    house.runtime.forks.add(deployment);
    await expect(create()).rejects.toMatchObject({ code: 'what_if_refused' });
  });

  it('answer that there are none without a key', async () => {
    const { house, deployment, params, pusher, create, boot, of } = await webhookHouse();
    const { id } = await create();
    await pusher[Symbol.asyncDispose]();
    await boot({ keys: [] });
    await expect(create()).rejects.toMatchObject({ code: 'webhooks_unavailable' });
    expect((await house.call('webhooks.list', { params, query: { page: 1, limit: 20 } })).data).toHaveLength(
      1,
    );
    await house.call('webhooks.delete', of(id));
    expect(deployment).toBeDefined();
  });
});

it('keeps the latest 1,000 deliveries of a webhook', async () => {
  const { create, house, deliveries, boot, pusher } = await webhookHouse();
  const { id } = await create();
  await pusher[Symbol.asyncDispose]();
  await query(
    house.databaseUrl,
    `with moved as (update chain_pusher.webhooks set last_number = 1500)
     insert into chain_pusher.webhook_deliveries (webhook_id, number, kind, state)
     select '${id}', number, 'entry', 'delivered' from generate_series(1, 1500) number`,
  );
  await boot();
  const count = () =>
    query<{ count: number }>(house.databaseUrl, 'select count(*)::int from chain_pusher.webhook_deliveries');
  await vi.waitFor(async () => expect(await count()).toEqual([{ count: 1000 }]));
  expect((await deliveries(id))[0]).toMatchObject({ number: 1500 });
});
