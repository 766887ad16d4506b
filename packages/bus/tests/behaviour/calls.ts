import { rpc, ServiceError } from '@orrery/contracts';
import { OutcomeUnknown } from '@orrery/database';
import { expect, it, vi } from 'vitest';
import { deferred } from '../collected.js';
import { type BusWorld, caller, inTime } from '../harness.js';
import { echoContract, echoHandlers, large, say } from '../specimens.js';

/** Request and reply. */
export function describeCalls(open: () => BusWorld): void {
  it('carries a request and its reply, filling in defaults on both ways', async () => {
    await (await open().join()).serve(echoContract, echoHandlers());
    const client = await open().join();
    const reply = await client.call(say, { text: 'Zügel 🐎' }, inTime());
    expect(reply).toEqual({ said: 'Zügel 🐎', by: 'nobody' });
  });

  it('gives a caller that asks for it the reply as text, and the error of a call as ever', async () => {
    await (await open().join()).serve(echoContract, echoHandlers());
    const client = await open().join();
    const { text } = await client.callForText(say, { text: 'Zügel 🐎' }, inTime());
    expect(JSON.parse(text)).toEqual({ said: 'Zügel 🐎', by: 'nobody' });
    const refused = client.callForText(say, { text: 7 } as never, inTime());
    await expect(refused).rejects.toMatchObject({ code: 'validation_failed' });
  });

  it('tells the handler who calls, for which request and until when', async () => {
    const seen = deferred<unknown>();
    const deadline = Date.now() + 9000;
    await (await open().join()).serve(
      echoContract,
      echoHandlers({
        'echo.say': async (_request, { signal, ...context }) => {
          seen.resolve({ ...context, aborted: signal.aborted });
          return { said: '' };
        },
      }),
    );
    const client = await open().join();
    await client.call(say, { text: '' }, inTime({ deadline, requestId: 'req-é' }));
    expect(await seen.promise).toEqual({
      caller,
      requestId: 'req-é',
      deadline: expect.closeTo(deadline, -4),
      leavesRun: false,
      aborted: false,
    });
  });

  it('brings a ServiceError over with its facts and field problems', async () => {
    const thrown = new ServiceError('limit_reached', 'At most 3 horses', {
      facts: { limit: 3 },
      errors: [{ pointer: '/text', code: 'too_many', message: 'four' }],
    });
    await (await open().join()).serve(
      echoContract,
      echoHandlers({ 'echo.say': () => Promise.reject(thrown) }),
    );
    const client = await open().join();
    const error = await client.call(say, { text: '' }, inTime()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'limit_reached',
      message: 'At most 3 horses',
      facts: thrown.facts,
      errors: thrown.errors,
    });
  });

  it('is reached by whoever answers, also when a call of the handler reached nobody', async () => {
    const nested = new ServiceError('unavailable', 'The catalog is away.', {
      facts: { reached: false, service: 'catalog' },
    });
    await (await open().join()).serve(
      echoContract,
      echoHandlers({ 'echo.say': () => Promise.reject(nested) }),
    );
    const client = await open().join();
    const error = await client.call(say, { text: '' }, inTime()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unavailable', message: 'The catalog is away.' });
    expect((error as ServiceError).facts).toEqual({ service: 'catalog' });
  });

  it('answers an unknown error, thrown at once or later, as internal, and logs its cause here only', async () => {
    const throwing = echoHandlers({
      'echo.say': () => {
        throw new Error('secret of the stable');
      },
      'echo.large': async () => {
        await Promise.resolve();
        throw new TypeError('secret of the stable');
      },
    });
    await (await open().join()).serve(echoContract, throwing);
    const client = await open().join();
    const calls = [
      client.call(say, { text: '' }, inTime()),
      client.call(large, { text: '', answerBytes: 0 }, inTime()),
    ];
    for (const call of calls) {
      const error = (await call.catch((reason: unknown) => reason)) as ServiceError;
      expect(error.code).toBe('internal');
      expect(JSON.stringify([error.message, error.facts])).not.toContain('secret');
    }
    expect(open().log.filter((line) => line.includes('secret of the stable'))).toHaveLength(2);
  });

  it('answers an error of the database by what it means, not as internal', async () => {
    const lost = new OutcomeUnknown('the connection was lost');
    const throwing = echoHandlers({ 'echo.say': () => Promise.reject(lost) });
    await (await open().join()).serve(echoContract, throwing);
    const client = await open().join();
    await expect(client.call(say, { text: '' }, inTime())).rejects.toMatchObject({
      code: 'unavailable',
      facts: { outcome: 'unknown' },
    });
  });

  it('does not take the error of another server for one of the database', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
    const throwing = echoHandlers({ 'echo.say': () => Promise.reject(refused) });
    await (await open().join()).serve(echoContract, throwing);
    const client = await open().join();
    await expect(client.call(say, { text: '' }, inTime())).rejects.toMatchObject({ code: 'internal' });
  });

  it('refuses a request that breaks its contract before the handler sees it, naming the place', async () => {
    await (await open().join()).serve(echoContract, echoHandlers());
    const client = await open().join();
    const call = client.call(say, { text: 'a', times: 0 }, inTime());
    await expect(call).rejects.toMatchObject({ code: 'validation_failed', errors: [{ pointer: '/times' }] });
  });

  it('refuses what no JSON may hold', async () => {
    await (await open().join()).serve(echoContract, echoHandlers());
    const client = await open().join();
    const call = client.call(say, { text: 'a\u0000' }, inTime());
    await expect(call).rejects.toMatchObject({ code: 'validation_failed', errors: [{ pointer: '/text' }] });
  });

  it('does not let out what the reply does not name', async () => {
    const talkative = async () => ({ said: 'a', password: 'hay' });
    await (await open().join()).serve(echoContract, echoHandlers({ 'echo.say': talkative }));
    const client = await open().join();
    await expect(client.call(say, { text: '' }, inTime())).rejects.toMatchObject({ code: 'internal' });
  });

  it('is unavailable without responders', async () => {
    const client = await open().join();
    const unknown = rpc({ ...say });
    const call = client.call(
      { ...unknown, service: 'absent', name: 'a.b', subject: 'orrery.absent.a.b' },
      { text: '' },
      inTime(),
    );
    await expect(call).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('gives up at the deadline, and aborts the handler', async () => {
    const aborted = deferred<unknown>();
    let hasArrived = false;
    await (await open().join()).serve(
      echoContract,
      echoHandlers({
        'echo.say': (_request, { signal }) =>
          new Promise((_, reject) => {
            hasArrived = true;
            signal.addEventListener('abort', () => {
              aborted.resolve(signal.reason);
              reject(signal.reason);
            });
          }),
      }),
    );
    const client = await open().join();
    // On a busy machine a call of a short deadline may end before it has arrived.
    for (let waitMs = 60; !hasArrived; waitMs *= 2) {
      const call = client.call(say, { text: '' }, inTime({ deadline: Date.now() + waitMs }));
      await expect(call).rejects.toMatchObject({ code: 'deadline_exceeded' });
    }
    expect(await aborted.promise).toMatchObject({ code: 'deadline_exceeded' });
    const late = client.call(say, { text: '' }, inTime({ deadline: Date.now() - 1 }));
    await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded' });
  });

  it('aborts the handler when the caller goes away', async () => {
    const started = deferred();
    const aborted = deferred();
    await (await open().join()).serve(
      echoContract,
      echoHandlers({
        'echo.say': async (_request, { signal }) => {
          started.resolve();
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          aborted.resolve();
          return { said: '' };
        },
      }),
    );
    const client = await open().join();
    const leaving = new AbortController();
    const call = client.call(say, { text: '' }, inTime({ signal: leaving.signal }));
    await started.promise;
    leaving.abort();
    await expect(call).rejects.toBeInstanceOf(ServiceError);
    await aborted.promise;
    await expect(client.call(say, { text: '' }, inTime({ signal: leaving.signal }))).rejects.toBeDefined();
  });

  it('shares the calls among the processes of a service', async () => {
    const served: string[] = [];
    for (const name of ['a', 'b']) {
      const count = async () => {
        served.push(name);
        return { said: name };
      };
      await (await open().join()).serve(echoContract, echoHandlers({ 'echo.say': count }));
    }
    const client = await open().join();
    let called = 0;
    // A caller that has heard one of them before the other calls that one until it hears both.
    await vi.waitFor(async () => {
      await client.call(say, { text: '' }, inTime());
      called += 1;
      expect(new Set(served)).toEqual(new Set(['a', 'b']));
    });
    expect(served).toHaveLength(called);
  });

  it('keeps calls of one moment apart: each has its own answer, error, deadline and end', async () => {
    const waiting = deferred<void>();
    const handlers = echoHandlers({
      'echo.say': async ({ text }, { signal }) => {
        if (text === 'fail') throw new ServiceError('limit_reached');
        if (text !== 'wait') return { said: text };
        signal.addEventListener('abort', () => waiting.resolve());
        await waiting.promise;
        return { said: 'waited' };
      },
    });
    await (await open().join()).serve(echoContract, handlers);
    const client = await open().join();
    const leaving = new AbortController();
    const call = (text: string, more = {}) => client.call(say, { text }, inTime(more));
    const settled = Promise.allSettled([
      ...Array.from({ length: 50 }, (_, at) => call(`${at}`)),
      call('fail'),
      call('wait', { signal: leaving.signal }),
      call('x'.repeat(100_000)),
    ]);
    await call('after');
    leaving.abort();
    const [first, ...outcomes] = await settled;
    expect(first).toMatchObject({ value: { said: '0' } });
    expect(outcomes[48]).toMatchObject({ value: { said: '49' } });
    expect(outcomes[49]).toMatchObject({ reason: { code: 'limit_reached' } });
    expect(outcomes[50]).toMatchObject({ reason: { code: 'unavailable' } });
    expect(outcomes[51]).toMatchObject({ value: { said: 'x'.repeat(100_000) } });
    await waiting.promise;
  });

  it('rejects each of the calls of one moment without responders', async () => {
    const client = await open().join();
    const calls = Array.from({ length: 40 }, () => client.call(say, { text: '' }, inTime()));
    for (const outcome of await Promise.allSettled(calls))
      expect(outcome).toMatchObject({ reason: { code: 'unavailable', facts: { reached: false } } });
  });

  it('reaches one process by its instance name', async () => {
    for (const instance of ['one', 'two']) {
      const named = echoHandlers({ 'echo.say': async () => ({ said: instance }) });
      await (await open().join()).serve(echoContract, named, { instance });
    }
    const client = await open().join();
    const ask = (instance: string) => client.call(say, { text: '' }, inTime({ instance }));
    for (const instance of ['one', 'two', 'two'])
      expect(await ask(instance)).toMatchObject({ said: instance });
    await expect(ask('three')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('waits for running handlers when it closes, and takes nothing new', async () => {
    const started = deferred();
    const goOn = deferred();
    const server = await open().join();
    await server.serve(
      echoContract,
      echoHandlers({
        'echo.say': async () => {
          started.resolve();
          await goOn.promise;
          return { said: 'after all' };
        },
      }),
    );
    const client = await open().join();
    const call = client.call(say, { text: '' }, inTime());
    await started.promise;
    const closed = server.close();
    const next = client.call(large, { text: '', answerBytes: 1 }, inTime()).catch((error: unknown) => error);
    goOn.resolve();
    expect(await call).toMatchObject({ said: 'after all' });
    await closed;
    await next;
    await expect(client.call(say, { text: '' }, inTime())).rejects.toMatchObject({ code: 'unavailable' });
  });
}
