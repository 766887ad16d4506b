import { defineMessage } from '@orrery/contracts';
import { createLogger } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { FactDelivery, FactLog } from '../ports/transport.js';
import { createConsume, inOrderOfKeys } from './messages.js';

const delivery = (id: string, key: string | undefined): FactDelivery => ({
  key,
  id,
  tries: 1,
  headers: {},
  body: '{}',
  done: () => undefined,
  sendBack: () => undefined,
});

/** Handlers that end when the test says so. */
function controlled() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const receive = inOrderOfKeys(({ id }) => {
    started.push(id);
    return new Promise((resolve) => ends.set(id, resolve));
  });
  return { receive, started, end: (id: string) => ends.get(id)?.() };
}

it('handles one delivery of a key at a time, and different keys at once', async () => {
  const { receive, started, end } = controlled();
  const work = [receive(delivery('1', 'a')), receive(delivery('2', 'a')), receive(delivery('3', 'b'))];
  await Promise.resolve();
  expect(started).toEqual(['1', '3']);
  end('1');
  await work[0];
  await Promise.resolve();
  expect(started).toEqual(['1', '3', '2']);
  end('2');
  end('3');
  await Promise.all(work);
});

it('handles deliveries without a key at once', async () => {
  const { receive, started } = controlled();
  void receive(delivery('1', undefined));
  void receive(delivery('2', undefined));
  expect(started).toEqual(['1', '2']);
});

it('tries what failed again after growing pauses, and sets it aside after the last try', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const logger = createLogger({ service: 'test', level: 'debug', destination });
  const outcomes: unknown[] = [];
  const tryIt = async (tries: number, body = '{}') => {
    const facts: Pick<FactLog, 'read'> = {
      read: (_subject, { receive }) =>
        receive({
          ...delivery('1', 'a'),
          tries,
          body,
          done: () => outcomes.push('done'),
          sendBack: (delayMs) => outcomes.push(delayMs > 30_000 ? 'long' : 'short'),
        }),
    };
    const handle = async () => {
      throw new Error('stumbled');
    };
    const message = defineMessage('racing', 'lapRun', z.strictObject({}));
    const { signal } = new AbortController();
    await createConsume(facts as FactLog, logger)(message, { consumer: 'c', handle, signal });
  };
  for (const tries of [1, 9, 10]) await tryIt(tries);
  expect(outcomes).toEqual(['short', 'long', 'done']);
  await tryIt(1, '{"a":1}');
  expect(outcomes.at(-1)).toBe('done');
  const letters = lines.filter((line) => line.includes('a message is a dead letter'));
  expect(letters).toEqual([
    expect.stringContaining('10 attempts did not succeed'),
    expect.stringContaining('"tries":1'),
  ]);
});
