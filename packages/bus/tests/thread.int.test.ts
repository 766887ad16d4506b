import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { systemClock } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { describe, expect, it } from 'vitest';
import { connectBus, createInProcessHub, type InProcessHub, lendHub } from '../src/index.js';
import { busContract } from './bus.contract.js';
import { collect } from './collected.js';
import { inTime, logLines } from './harness.js';
import { openHubWorld } from './hub-world.js';
import { echoContract, echoHandlers, lapRun, say } from './specimens.js';

function portTo(hub: InProcessHub, { logger } = logLines()): MessagePort {
  const { port1, port2 } = new MessageChannel();
  lendHub(hub, port1, logger);
  return port2;
}

describe('the bus of a hub in another thread', () =>
  busContract(() => openHubWorld((hub) => ({ port: portTo(hub) }))));

describe('a thread that is gone', () => {
  const common = { url: undefined, service: 'test', clock: systemClock, logger: logLines().logger };

  it('leaves its calls and messages to others, and its own calls are refused', async () => {
    await using database = await createTestDatabase();
    await using hub = await createInProcessHub({ ...common, databaseUrl: database.url });
    const port = portTo(hub);
    const gone = await connectBus({ ...common, port });
    const stays = await connectBus({ ...common, hub });
    const taken = collect<string>();
    const take = (by: string) => ({
      consumer: 'stable',
      handle: async () => {
        taken.add(by);
        if (by === 'gone') await new Promise<never>(() => undefined);
      },
      signal: new AbortController().signal,
    });
    await gone.serve(echoContract, echoHandlers({ 'echo.say': () => new Promise(() => undefined) }));
    await gone.consume(lapRun, take('gone'));
    await stays.publish(lapRun, { horse: 'a', number: 1 }, { id: 'lap' });
    await taken.atLeast(1);
    const waiting = stays.call(say, { text: '' }, inTime());

    port.close();
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    await expect(gone.call(say, { text: '' }, inTime())).rejects.toMatchObject({ code: 'unavailable' });
    expect(await gone.health()).toMatchObject({ ok: false });
    await expect(stays.call(say, { text: '' }, inTime())).rejects.toMatchObject({ code: 'unavailable' });
    await stays.consume(lapRun, take('stays'));
    expect(await taken.atLeast(2)).toEqual(['gone', 'stays']);
    await stays.close();
  });
});
