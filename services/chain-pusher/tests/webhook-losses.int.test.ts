import { describe, expect, it, vi } from 'vitest';
import { trustReceivers, verified, webhookHouse } from './webhook-house.js';

trustReceivers();

describe('deliveries', () => {
  it('go on where the journal has lost entries that were delivered, and say so', async () => {
    const { create, execute, house, deployment, waitFor, received, get } = await webhookHouse();
    const { id, secret } = await create({ events: ['race'] });
    await Promise.all(Array.from({ length: 4 }, () => execute()));
    await waitFor(4);
    await vi.waitFor(async () => expect((await get(id)).seq).toBe(5));
    house.runtime.loseAfter(deployment, 3);
    const after = await execute();
    await waitFor(6);
    const bodies = received().map((one) => verified(secret, one));
    expect(bodies.slice(4)).toMatchObject([
      { kind: 'tail_lost', seq: 4 },
      { kind: 'execution', seq: 5, id: after.id },
    ]);
    expect(bodies[4]).not.toHaveProperty('input');
    await vi.waitFor(async () => expect(await get(id)).toMatchObject({ seq: 5, state: 'active' }));
  });

  it('miss nothing that is new after a restore of which the journal says nothing, and say what is lost', async () => {
    const { create, execute, house, deployment, waitFor, received, get, boot, pusher, deliveries } =
      await webhookHouse();
    const { id, secret } = await create({ events: ['race'] });
    const before = [await execute(), await execute(), await execute(), await execute()];
    await waitFor(4);
    await vi.waitFor(async () => expect((await get(id)).seq).toBe(5));
    await pusher[Symbol.asyncDispose]();
    house.runtime.restoreTo(deployment, 3);
    const after = [house.runtime.execute(deployment), house.runtime.execute(deployment)];
    await boot();
    after.push(await execute());
    await waitFor(9);
    const bodies = received().map((one) => verified(secret, one));
    expect(bodies[4]).toEqual({ kind: 'tail_lost', deployment, seq: 3 });
    expect(bodies.slice(5).map((body) => body.id)).toEqual([before[1], ...after].map((one) => one?.id));
    await vi.waitFor(async () => expect(await get(id)).toMatchObject({ seq: 6, state: 'active' }));
    expect((await deliveries(id)).reverse()[4]).toMatchObject({ kind: 'entry', historyId: null, seq: 3 });
  });

  it('say what is lost until the receiver takes it', async () => {
    const { create, execute, house, deployment, waitFor, received, receiver, get, of, deliveries } =
      await webhookHouse();
    const { id } = await create();
    await execute();
    await execute();
    await waitFor(2);
    await vi.waitFor(async () => expect((await get(id)).seq).toBe(3));
    receiver.behave(() => 500);
    house.runtime.restoreTo(deployment, 2);
    await execute();
    await waitFor(3);
    await vi.waitFor(async () => expect((await get(id)).state).toBe('retrying'));
    receiver.behave(() => 200);
    await house.call('webhooks.update', { ...of(id), body: { isEnabled: true } });
    await waitFor(6);
    const [told, again] = received().slice(2);
    expect(again?.body).toEqual(told?.body);
    expect(again?.headers['webhook-id']).toBe(told?.headers['webhook-id']);
    await vi.waitFor(async () =>
      expect((await deliveries(id)).reverse()[2]).toMatchObject({ state: 'delivered', attempts: 2, seq: 2 }),
    );
  });

  it('go on with new entries where none was sent before a restore', async () => {
    const { create, execute, house, deployment, waitFor, received, get, boot, pusher } = await webhookHouse();
    const old = await execute();
    const { id, secret } = await create({ events: ['sale'] });
    await Promise.all([execute(), execute()]);
    await vi.waitFor(async () => expect((await get(id)).seq).toBe(4));
    await pusher[Symbol.asyncDispose]();
    house.runtime.restoreTo(deployment, old.seq);
    const after = [3, 4, 5].map(() => house.runtime.execute(deployment, { event: 'sale' } as object));
    await boot();
    await waitFor(4);
    const bodies = received().map((one) => verified(secret, one));
    expect(bodies[0]).toEqual({ kind: 'tail_lost', deployment, seq: old.seq });
    expect(bodies.slice(1).map((body) => body.id)).toEqual(after.map((one) => one.id));
  });

  it('go on with a `tail_lost` that more than 1,000 entries follow', async () => {
    const { create, execute, house, deployment, waitFor, received, get, boot, pusher } = await webhookHouse();
    const { id, secret } = await create({ events: ['race'] });
    await execute();
    await waitFor(1);
    for (let one = 0; one < 1500; one += 1) house.runtime.execute(deployment, { event: 'sale' } as object);
    const last = await execute();
    await waitFor(2);
    await vi.waitFor(async () => expect((await get(id)).seq).toBe(last.seq));
    await pusher[Symbol.asyncDispose]();
    house.runtime.loseAfter(deployment, 2);
    const first = house.runtime.execute(deployment);
    for (let one = 0; one < 1400; one += 1) house.runtime.execute(deployment, { event: 'sale' } as object);
    await boot();
    await waitFor(4);
    const bodies = received().map((one) => verified(secret, one));
    expect(bodies.slice(2)).toMatchObject([
      { kind: 'tail_lost', seq: 3 },
      { kind: 'execution', id: first.id },
    ]);
  });
});
