import { MessageChannel } from 'node:worker_threads';
import { type Cancellation, ServiceError } from '@orrery/contracts';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLogger } from '../logging/create-logger.js';
import { createLink, type Link } from './link.js';
import type { Answers } from './questions.js';

type Asked = { double: { args: number; answer: number }; wait: { args: string; answer: string } };

const silent = { double: () => Promise.reject(new Error()), wait: () => '' } satisfies Answers<Asked>;

function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Two ends; the first asks what the second answers. */
function linked(answers: Partial<Answers<Asked>>) {
  const { port1, port2 } = new MessageChannel();
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  const asking: Link<Asked> = createLink<Asked, Asked>({ port: port1, answers: silent, logger });
  const answering = createLink<Asked, Asked>({ port: port2, answers: { ...silent, ...answers }, logger });
  onTestFinished(() => {
    for (const link of [asking, answering]) link.close();
  });
  return { asking, answering, lines, port: port1 };
}

describe('a link', () => {
  it('answers each question with its own answer, whenever that comes', async () => {
    const { asking } = linked({ double: (number) => Promise.resolve(number * 2) });
    const answers = await Promise.all([1, 2, 3].map((number) => asking.ask('double', number)));
    expect(answers).toEqual([2, 4, 6]);
  });

  it('brings a ServiceError over; anything else as internal, its text in the log alone', async () => {
    const { asking, lines } = linked({
      double: () => Promise.reject(new ServiceError('limit_reached', 'At most 3', { facts: { limit: 3 } })),
      wait: () => {
        throw new Error('a secret');
      },
    });
    const refused = { code: 'limit_reached', message: 'At most 3', facts: { limit: 3 } };
    await expect(asking.ask('double', 4)).rejects.toMatchObject(refused);
    await expect(asking.ask('wait', '')).rejects.toMatchObject({
      code: 'internal',
      message: expect.not.stringContaining('secret'),
    });
    expect(lines.join()).toContain('a secret');
  });

  it('tells the other end that nobody waits any more, and settles with its answer still', async () => {
    const wait = vi.fn(
      (_text: string, call: Cancellation) =>
        new Promise<string>((resolve) => call.addEventListener('abort', () => resolve('stopped'))),
    );
    const { asking } = linked({ wait });
    let giveUp = (): void => undefined;
    const settled = new Promise((resolve, reject) => {
      giveUp = asking.begin('wait', 'long', { resolve, reject });
    });
    await vi.waitFor(() => expect(wait).toHaveBeenCalled());
    giveUp();
    expect(await settled).toBe('stopped');
  });

  it('refuses what waits and what is asked once the other end is gone, and aborts what that had asked', async () => {
    const asked = withResolvers<Cancellation>();
    const wait = (_text: string, call: Cancellation) => {
      asked.resolve(call);
      return new Promise<string>(() => undefined);
    };
    const { asking, answering } = linked({ wait });
    const waiting = asking.ask('wait', 'long');
    waiting.catch(() => undefined);
    const call = await asked.promise;
    answering.close();
    expect(call.aborted).toBe(true);
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    await expect(asking.ask('double', 1)).rejects.toMatchObject({ code: 'unavailable' });
    expect(asking.isOpen).toBe(false);
  });

  it('carries what is asked within a turn as few messages', async () => {
    const { asking, port } = linked({ double: (number) => number });
    const post = vi.spyOn(port, 'postMessage');
    await Promise.all(Array.from({ length: 40 }, (_, number) => asking.ask('double', number)));
    expect(post).toHaveBeenCalledTimes(1);
  });
});
