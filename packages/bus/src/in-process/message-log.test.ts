import { createLogger, systemClock } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import type { FactDelivery } from '../ports/transport.js';
import { createMessageLog } from './message-log.js';

const open = (maxCharacters?: number) => {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'warn',
    destination: { write: (line: string) => lines.push(line) },
  });
  const log = createMessageLog({ clock: systemClock, logger, ...(maxCharacters && { maxCharacters }) });
  const append = (...ids: string[]) =>
    log.append(
      'laps',
      ids.map((id) => ({ id, key: undefined, headers: {}, body: 'ten chars.' })),
    );
  const read = (receive: (delivery: FactDelivery) => Promise<void>, consumer = 'stable') =>
    log.read('laps', { consumer, receive, signal: new AbortController().signal });
  return { append, read, lines };
};

const collecting = (seen: string[]) => async (delivery: FactDelivery) => {
  seen.push(delivery.id);
  delivery.done();
};

it('keeps for the consumer that lags most no more than it may, and says that it dropped the oldest', async () => {
  const { append, read, lines } = open(50);
  const stop = read(collecting([]));
  await stop();
  for (const id of 'abcdefg') await append(id);
  expect(lines.join()).toContain('a consumer lags behind');
  const seen: string[] = [];
  read(collecting(seen));
  await append('h');
  await vi.waitFor(() => expect(seen.at(-1)).toBe('h'));
  expect(seen.join('')).toBe('cdefgh');
});

it('drops nothing that every consumer has taken, however much has passed', async () => {
  const { append, read, lines } = open(50);
  const [one, two] = [[] as string[], [] as string[]];
  read(collecting(one));
  read(collecting(two), 'another');
  for (let n = 0; n < 500; n++) {
    await append(String(n));
    await vi.waitFor(() => expect([one.length, two.length]).toEqual([n + 1, n + 1]));
  }
  expect(lines).toEqual([]);
});

it('knows the last ids, so a repetition is stored once, and forgets older ones', async () => {
  const { append, read } = open();
  const seen: string[] = [];
  read(collecting(seen));
  await append('first', 'first', ...Array.from({ length: 9999 }, (_, n) => String(n)));
  await append('first');
  await append('one more');
  await append('first');
  await vi.waitFor(() => expect(seen.at(-1)).toBe('first'));
  expect(seen.filter((id) => id === 'first')).toHaveLength(2);
});

it('begins nothing new while too many messages are sent back', async () => {
  const { append, read } = open();
  const seen = new Set<string>();
  const stop = read(async ({ id, sendBack }) => {
    seen.add(id);
    sendBack(60_000);
  });
  for (let n = 0; n < 1500; n++) await append(String(n));
  await vi.waitFor(() => expect(seen.size).toBeGreaterThan(1000));
  await append('one more');
  expect(seen.size).toBeLessThan(1100);
  await stop();
  const later = new Set<string>();
  read(async ({ id }) => void later.add(id));
  await vi.waitFor(() => expect(later.size).toBe(1501));
});

it('delivers again what was sent back while nobody read, with the number of its try', async () => {
  const { append, read } = open();
  const tries: string[] = [];
  const stop = read(async (delivery) => {
    tries.push(`${delivery.id}${delivery.tries}`);
    delivery.sendBack(60_000);
  });
  await append('a', 'b');
  await stop();
  const later: string[] = [];
  read(async ({ id, tries: count }) => void later.push(`${id}${count}`));
  await append('c');
  await vi.waitFor(() => expect(later.toSorted()).toEqual(['a2', 'b2', 'c1']));
  expect(tries).toEqual(['a1', 'b1']);
});
