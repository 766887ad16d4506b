import { MessageChannel } from 'node:worker_threads';
import { ServiceError } from '@orrery/contracts';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLogger } from '../logging/logger.js';
import { createLink, type Implementations, type Link } from './link.js';

type Called = { double: { args: number; result: number }; wait: { args: string; result: string } };

const silent = {
  double: () => Promise.reject(new Error()),
  wait: () => '',
} satisfies Implementations<Called>;

function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Two ends; the first calls what the second implements. */
function linked(procedures: Partial<Implementations<Called>>) {
  const { port1, port2 } = new MessageChannel();
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  const caller: Link<Called> = createLink<Called, Called>({ port: port1, procedures: silent, logger });
  const server = createLink<Called, Called>({
    port: port2,
    procedures: { ...silent, ...procedures },
    logger,
  });
  onTestFinished(() => {
    for (const link of [caller, server]) link.close();
  });
  return { caller, server, lines, port: port1 };
}

describe('a link', () => {
  it('resolves each call with its own result, whenever that comes', async () => {
    const { caller } = linked({ double: (number) => Promise.resolve(number * 2) });
    const results = await Promise.all([1, 2, 3].map((number) => caller.call('double', number)));
    expect(results).toEqual([2, 4, 6]);
  });

  it('passes a ServiceError on, and anything else as internal with its text in the log alone', async () => {
    const { caller, lines } = linked({
      double: () => Promise.reject(new ServiceError('limit_reached', 'At most 3', { facts: { limit: 3 } })),
      wait: () => {
        throw new Error('a secret');
      },
    });
    const refused = { code: 'limit_reached', message: 'At most 3', facts: { limit: 3 } };
    await expect(caller.call('double', 4)).rejects.toMatchObject(refused);
    await expect(caller.call('wait', '')).rejects.toMatchObject({
      code: 'internal',
      message: expect.not.stringContaining('secret'),
    });
    expect(lines.join()).toContain('a secret');
  });

  it('aborts a cancelled call at the other end, and still settles with its result', async () => {
    const wait = vi.fn(
      (_text: string, call: AbortSignal) =>
        new Promise<string>((resolve) => call.addEventListener('abort', () => resolve('stopped'))),
    );
    const { caller } = linked({ wait });
    let giveUp = (): void => undefined;
    const settled = new Promise((resolve, reject) => {
      giveUp = caller.begin('wait', 'long', { resolve, reject });
    });
    await vi.waitFor(() => expect(wait).toHaveBeenCalled());
    giveUp();
    expect(await settled).toBe('stopped');
  });

  it('rejects waiting and later calls once the other end is gone, and aborts the calls of that end', async () => {
    const started = withResolvers<AbortSignal>();
    const wait = (_text: string, call: AbortSignal) => {
      started.resolve(call);
      return new Promise<string>(() => undefined);
    };
    const { caller, server } = linked({ wait });
    const waiting = caller.call('wait', 'long');
    waiting.catch(() => undefined);
    const call = await started.promise;
    server.close();
    expect(call.aborted).toBe(true);
    const unknown = { code: 'unavailable', facts: { outcome: 'unknown' } };
    await expect(waiting).rejects.toMatchObject(unknown);
    const unsent = { code: 'unavailable', facts: { reached: false } };
    await expect(caller.call('double', 1)).rejects.toMatchObject(unsent);
    expect(caller.isOpen).toBe(false);
  });

  it('carries the calls of one turn in few messages', async () => {
    const { caller, port } = linked({ double: (number) => number });
    const post = vi.spyOn(port, 'postMessage');
    await Promise.all(Array.from({ length: 40 }, (_, number) => caller.call('double', number)));
    expect(post).toHaveBeenCalledTimes(1);
  });
});
