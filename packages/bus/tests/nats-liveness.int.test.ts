import { connect, headers, type Msg } from '@nats-io/transport-node';
import { defineContract } from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import { describeWithNats } from '@orrery/testing';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type Bus, connectBus } from '../src/index.js';
import { inTime, logLines } from './harness.js';
import { echoContract } from './specimens.js';

// A service of its own: other suites use the same server.
const contract = defineContract('pulse', { 'pulse.say': echoContract.rpcs['echo.say'] });
const say = contract.rpcs['pulse.say'];
const answering = (said: string) => ({ 'pulse.say': async () => ({ said }) });

const TTL_MS = 900;
/** Later than any machine needs to give a call up: one that nobody gives up ends with `deadline_exceeded`. */
const patient = () => ({ deadline: Date.now() + 100_000 });
const ALIVE = 'orrery.alive.pulse';

describeWithNats('a process that falls silent', (url) => {
  const join = async () => {
    const bus = await connectBus({ url, service: 'test', logger: logLines().logger, clock: systemClock });
    onTestFinished(() => bus.close());
    return bus;
  };
  const serve = async (bus: Bus, instance: string) =>
    bus.serve(contract, answering(instance), { instance, ttlMs: TTL_MS });

  /**
   * What NATS and the callers see of a stopped process: it is connected and subscribed, was heard once, and is silent
   * from then on. `asked` counts the messages that it was sent.
   */
  const stoppedProcess = async () => {
    const wire = await connect({ servers: url });
    onTestFinished(() => wire.close());
    const asked = { group: 0, alone: 0 };
    const count = (kind: keyof typeof asked) => {
      asked[kind] += 1;
    };
    wire.subscribe(say.subject, { queue: 'pulse', callback: () => count('group') });
    wire.subscribe(`${say.subject}.stopped`, { callback: () => count('alone') });
    const beat = () => wire.publish(ALIVE, JSON.stringify({ instance: 'stopped', ttlMs: TTL_MS }));
    beat();
    await wire.flush();
    return { asked, beat };
  };
  const callers = async () => {
    const client = await join();
    const ask = (options: { instance?: string; deadline?: number } = {}) =>
      client.call(say, { text: '' }, inTime(options)).then(
        ({ said }) => said,
        (error: unknown) => error,
      );
    return { client, ask };
  };

  it('that ends while its large answer is fetched is not asked again: it may have carried the request out', async () => {
    const wire = await connect({ servers: url });
    onTestFinished(() => wire.close());
    let asked = 0;
    const parts = headers();
    // The answer's parts are offered at a subject that nobody serves any more.
    parts.set('orrery-parts', '2000000 orrery.test.gone');
    const callback = (_: unknown, message: Msg) => {
      asked += 1;
      message.respond('', { headers: parts });
    };
    wire.subscribe(say.subject, { queue: 'pulse', callback });
    await wire.flush();
    const { ask } = await callers();
    expect(await ask()).toMatchObject({ code: 'unavailable', facts: { outcome: 'unknown' } });
    expect(asked).toBe(1);
  });

  it('gets no more calls of its queue group, and those that it has are given up', async () => {
    const { ask } = await callers();
    await serve(await join(), 'well');
    const { asked, beat } = await stoppedProcess();
    // Until the caller has heard both. It falls silent then, however long that took.
    const before: Promise<unknown>[] = [];
    await vi.waitFor(() => {
      beat();
      before.push(ask(patient()));
      expect(asked.alone).toBeGreaterThan(0);
    });
    const outcomes = await Promise.all(before);
    const lost = outcomes.filter((outcome) => outcome !== 'well');
    for (const outcome of lost)
      expect(outcome).toMatchObject({ code: 'unavailable', facts: { outcome: 'unknown' } });
    expect(lost).toHaveLength(asked.alone + asked.group);
    const sent = { ...asked };
    for (let call = 0; call < 40; call += 1) expect(await ask()).toBe('well');
    expect(asked).toEqual(sent);
  });

  it('is sent no call in its own name: nothing has happened then', async () => {
    const { ask } = await callers();
    const { asked } = await stoppedProcess();
    const outcome = await ask({ instance: 'stopped' });
    expect(outcome).toMatchObject({ facts: { outcome: 'unknown' } });
    expect(asked.alone).toBe(1);
    expect(await ask({ instance: 'stopped' })).toMatchObject({
      code: 'unavailable',
      facts: { reached: false },
    });
    expect(asked.alone).toBe(1);
  });

  it('is called again once it is heard again', async () => {
    const { ask } = await callers();
    await serve(await join(), 'well');
    const { asked, beat } = await stoppedProcess();
    await ask({ instance: 'stopped' });
    const { alone } = asked;
    await vi.waitFor(() => {
      beat();
      void ask({ deadline: Date.now() + 100 });
      expect(asked.alone).toBeGreaterThan(alone);
    });
  });

  it('the only one, is asked all the same, and the call is given up in time', async () => {
    const { ask } = await callers();
    const { asked } = await stoppedProcess();
    await ask({ instance: 'stopped' });
    expect(await ask(patient())).toMatchObject({ code: 'unavailable', facts: { outcome: 'unknown' } });
    expect(asked).toEqual({ alone: 2, group: 0 });
  });
});

describeWithNats('a process that was never heard', (url) => {
  const join = async () => {
    const bus = await connectBus({ url, service: 'test', logger: logLines().logger, clock: systemClock });
    onTestFinished(() => bus.close());
    return bus;
  };
  const wireOf = async () => {
    const wire = await connect({ servers: url });
    onTestFinished(() => wire.close());
    return wire;
  };
  /** What a caller gets that has heard another process of the service, whose TTL it then knows. */
  const caller = async () => {
    const client = await join();
    await (await join()).serve(contract, answering('well'), { instance: 'well', ttlMs: TTL_MS });
    return (instance: string) =>
      client.call(say, { text: '' }, inTime({ instance, ...patient() })).then(
        ({ said }) => said,
        (error: unknown) => error,
      );
  };

  it('is given up: it may have stopped before the caller started', async () => {
    const wire = await wireOf();
    wire.subscribe(`${say.subject}.frozen`, { callback: () => undefined });
    await wire.flush();
    const ask = await caller();
    expect(await ask('frozen')).toMatchObject({ code: 'unavailable', facts: { outcome: 'unknown' } });
  });
});

describeWithNats('a process that is gone', (url) => {
  it('is passed over at once, and so is one that ends while it still answers', async () => {
    const join = () => connectBus({ url, service: 'test', logger: logLines().logger, clock: systemClock });
    const [client, stays, ends] = [await join(), await join(), await join()];
    onTestFinished(async () => void (await Promise.all([client.close(), stays.close()])));
    const told: string[] = [];
    const wire = await connect({ servers: url });
    wire.subscribe('orrery.pulse.>', { callback: (_, { subject }) => void told.push(subject) });
    await wire.flush();
    for (const [bus, instance] of [
      [stays, 'stays'],
      [ends, 'ends'],
    ] as const)
      await bus.serve(contract, answering(instance), { instance });
    const ask = async () => (await client.call(say, { text: '' }, inTime())).said;
    await vi.waitFor(async () => {
      await ask();
      expect(told).toContain(`${say.subject}.ends`);
      expect(told).toContain(`${say.subject}.stays`);
    });
    // The server counts it as a responder.
    await wire.close();
    const closed = ends.close();
    for (let call = 0; call < 100; call += 1) expect(['stays', 'ends']).toContain(await ask());
    await closed;
    for (let call = 0; call < 20; call += 1) expect(await ask()).toBe('stays');
  });
});
