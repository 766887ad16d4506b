import { expect, it } from 'vitest';
import { oneReaderEach } from './open-log.js';

it('lets a successor in when the reader before it has ended, and refuses one beside it', async () => {
  const events: string[] = [];
  let count = 0;
  const read = oneReaderEach(async () => {
    count += 1;
    const name = count;
    events.push(`start ${name}`);
    return async () => {
      await Promise.resolve();
      events.push(`end ${name}`);
    };
  });
  const first = new AbortController();
  const options = { consumer: 'c', maxInFlight: 1, receive: async () => undefined };
  const stopFirst = await read('s', { ...options, signal: first.signal });
  await expect(read('s', { ...options, signal: first.signal })).rejects.toThrow('already');
  first.abort();
  await stopFirst();
  expect(events).toEqual(['start 1', 'end 1']);
  await read('s', { ...options, signal: new AbortController().signal });
  expect(events).toEqual(['start 1', 'end 1', 'start 2']);
});
