import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { systemClock } from '@orrery/service-kit';
import { describe, expect, it } from 'vitest';
import { connectBus, createInProcessHub, type InProcessHub, lendHub } from '../src/index.js';
import { busContract } from './bus.contract.js';
import { deferred } from './collected.js';
import { inTime, logLines } from './harness.js';
import { openHubWorld } from './hub-world.js';
import { echoContract, echoHandlers, say } from './specimens.js';

function portTo(hub: InProcessHub, { logger } = logLines()): MessagePort {
  const { port1, port2 } = new MessageChannel();
  lendHub(hub, port1, logger);
  return port2;
}

describe('the bus of a hub in another thread', () =>
  busContract(() => openHubWorld((hub) => ({ port: portTo(hub) }))));

describe('a thread that is gone', () => {
  const common = { url: undefined, service: 'test', clock: systemClock, logger: logLines().logger };

  it('leaves its calls to others, and its own calls are refused', async () => {
    const hub = createInProcessHub(common);
    const port = portTo(hub);
    const gone = await connectBus({ ...common, port });
    const stays = await connectBus({ ...common, hub });
    const taken = deferred();
    const stuck = () => {
      taken.resolve();
      return new Promise<never>(() => undefined);
    };
    await gone.serve(echoContract, echoHandlers({ 'echo.say': stuck }));
    const waiting = stays.call(say, { text: '' }, inTime());
    await taken.promise;

    port.close();
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    await expect(gone.call(say, { text: '' }, inTime())).rejects.toMatchObject({ code: 'unavailable' });
    expect(await gone.health()).toMatchObject({ ok: false });
    await expect(stays.call(say, { text: '' }, inTime())).rejects.toMatchObject({ code: 'unavailable' });
    await stays.close();
  });
});
