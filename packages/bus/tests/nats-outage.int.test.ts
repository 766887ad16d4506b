import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orrery/service-kit';
import { describeWithNats } from '@orrery/testing';
import { startNatsServer, type TestServer } from '@orrery/testing/servers';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { type Bus, connectBus } from '../src/index.js';
import { collect } from './collected.js';
import { inTime, logLines } from './harness.js';
import { echoContract, echoHandlers, lapRun, say } from './specimens.js';

describeWithNats('the bus while NATS is away', suite, { own: true });

function suite(): void {
  const { lines, logger } = logLines();
  let folder: string;
  let nats: TestServer;
  let buses: Bus[];
  const open = async () => {
    const bus = await connectBus({ url: nats.url, service: 'test', logger, clock: systemClock });
    buses.push(bus);
    return bus;
  };
  const seen = collect<number>();
  const publish = (bus: Bus, number: number) =>
    bus.publish(lapRun, { horse: 'Zephyr', number }, { id: `lap-${number}`, orderingKey: 'Zephyr' });
  const consume = (bus: Bus, signal: AbortSignal) =>
    bus.consume(lapRun, {
      consumer: 'outage',
      handle: async ({ number }) => {
        seen.add(number);
      },
      signal,
    });
  /** An acknowledgement may be lost with the server: what it was for is delivered once more. */
  const untilSeen = (number: number) => vi.waitFor(() => expect(seen.items).toContain(number));
  const untilWell = (bus: Bus) =>
    vi.waitFor(async () => expect(await bus.health()).toEqual({ ok: true }), { interval: 20 });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orrery-bus-'));
    nats = await startNatsServer({ storeDir: folder });
    buses = [];
  });
  afterEach(async () => {
    await Promise.all(buses.map((bus) => bus.close()));
    await nats.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('works again after a kill, with and without its data', async () => {
    const stop = new AbortController();
    const server = await open();
    const client = await open();
    await server.serve(echoContract, echoHandlers());
    await consume(server, stop.signal);
    await publish(client, 1);
    await untilSeen(1);

    await nats.kill();
    await vi.waitFor(async () => expect((await client.health()).ok).toBe(false));
    const unsent = { code: 'unavailable', facts: { reached: false } };
    await expect(client.call(say, { text: 'a' }, inTime())).rejects.toMatchObject(unsent);
    const duringOutage = publish(client, 2);
    nats = await startNatsServer({ storeDir: folder, port: nats.port });
    await Promise.all([untilWell(client), untilWell(server)]);
    await duringOutage;
    await untilSeen(2);
    expect(await client.call(say, { text: 'b' }, inTime())).toMatchObject({ said: 'b' });

    await nats.kill();
    await rm(folder, { recursive: true, force: true });
    nats = await startNatsServer({ storeDir: folder, port: nats.port });
    await Promise.all([untilWell(client), untilWell(server)]);
    await publish(client, 3);
    await untilSeen(3);
    expect(await client.call(say, { text: 'c' }, inTime())).toMatchObject({ said: 'c' });
    expect([...new Set(seen.items)]).toEqual([1, 2, 3]);
    expect(lines.filter((line) => line.includes('NATS is away'))).toHaveLength(4);
    stop.abort();
  });

  it('finds the server again when the clock was set back since the last try', async () => {
    const { now } = Date;
    const ahead = vi.spyOn(Date, 'now').mockImplementation(() => now() + 660_000);
    onTestFinished(() => void ahead.mockRestore());
    const client = await open();
    ahead.mockRestore();
    await nats.kill();
    await vi.waitFor(async () => expect((await client.health()).ok).toBe(false));
    nats = await startNatsServer({ storeDir: folder, port: nats.port });
    await untilWell(client);
  });

  it('fails a call whose connection breaks at once, and says that it may have been carried out', async () => {
    const server = await open();
    const client = await open();
    const taken = collect<string>();
    const stuck = ({ text }: { text: string }) => {
      taken.add(text);
      return new Promise<never>(() => undefined);
    };
    await server.serve(echoContract, echoHandlers({ 'echo.say': stuck }));
    const call = client.call(say, { text: 'a' }, inTime());
    const failed = expect(call).rejects.toMatchObject({ code: 'unavailable', facts: { outcome: 'unknown' } });
    await vi.waitFor(() => expect(taken.items).toEqual(['a']));
    await nats.kill();
    await failed;
    nats = await startNatsServer({ storeDir: folder, port: nats.port });
  });
}
