import { connect, headers } from '@nats-io/transport-node';
import { systemClock } from '@orrery/service-kit';
import { describeWithNats } from '@orrery/testing';
import { expect, it, onTestFinished } from 'vitest';
import { connectBus } from '../src/index.js';
import { busContract } from './bus.contract.js';
import { type BusWorld, inTime, logLines } from './harness.js';
import { echoContract, echoHandlers, say } from './specimens.js';

function openWorld(url: string): Promise<BusWorld> {
  const { lines, logger } = logLines();
  const join = (service = 'test') => connectBus({ url, service, logger, clock: systemClock });
  return Promise.resolve({
    log: lines,
    manyProcesses: true,
    join,
    joinConsumer: join,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

describeWithNats('the bus over NATS', (url) => busContract(() => openWorld(url)));

describeWithNats('messages on the wire', (url) => {
  /** A process that serves, one that calls, and a connection that sees their messages. */
  const serving = async (handlers = echoHandlers()) => {
    const { join, log } = await openWorld(url);
    // A name of its own: other files use this server at the same time.
    const [server, client, wire] = [await join(), await join('counted'), await connect({ servers: url })];
    onTestFinished(async () => void (await Promise.all([server.close(), client.close(), wire.close()])));
    await server.serve(echoContract, handlers);
    return { client, wire, log };
  };

  it('hold what is asked of one service, and answered to one process, within a turn', async () => {
    const { client, wire } = await serving();
    const seen = { asked: 0, answered: 0 };
    const count = (kind: keyof typeof seen) => () => {
      seen[kind] += 1;
    };
    // Also those to a process by its own name.
    wire.subscribe('orrery.echo.>', { callback: count('asked') });
    wire.subscribe('orrery.inbox.counted.>', { callback: count('answered') });
    await wire.flush();
    await Promise.all(Array.from({ length: 32 }, () => client.call(say, { text: '' }, inTime())));
    await wire.flush();
    expect(seen.asked).toBe(2);
    expect(seen.answered).toBeLessThanOrEqual(4);
  });

  it('never hold what was given up before the turn ended', async () => {
    const served: string[] = [];
    const handlers = echoHandlers({
      'echo.say': async ({ text }) => {
        served.push(text);
        return { said: text };
      },
    });
    const { client } = await serving(handlers);
    const leaving = new AbortController();
    const given = client.call(say, { text: 'given up' }, inTime({ signal: leaving.signal }));
    leaving.abort();
    await expect(given).rejects.toMatchObject({ code: 'unavailable' });
    await client.call(say, { text: 'after' }, inTime());
    expect(served).toEqual(['after']);
  });

  it('that are no packs cost their own calls alone', async () => {
    const { client, wire, log } = await serving();
    const marked = headers();
    marked.append('orrery-pack', '1');
    wire.publish(say.subject, 'no pack', { reply: 'nowhere.1', headers: marked });
    await wire.flush();
    expect(await client.call(say, { text: 'well' }, inTime())).toMatchObject({ said: 'well' });
    expect(log.join()).toContain('a message could not be received');
  });
});
