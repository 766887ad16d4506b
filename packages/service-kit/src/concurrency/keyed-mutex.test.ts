import { expect, it } from 'vitest';
import { createKeyedMutex } from './bounded-work.js';

it('one at a time per key, in order, also after a failure; other keys do not wait', async () => {
  const mutex = createKeyedMutex();
  const seen: string[] = [];
  const work =
    (name: string, fail = false) =>
    async () => {
      seen.push(`${name} begins`);
      await new Promise(setImmediate);
      seen.push(`${name} ends`);
      if (fail) throw new Error(name);
      return name;
    };
  const outcomes = await Promise.allSettled([
    mutex.run(1, work('a', true)),
    mutex.run(1, work('b')),
    mutex.run(2, work('c')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(seen.indexOf('b begins')).toBeGreaterThan(seen.indexOf('a ends'));
  expect(seen.indexOf('c begins')).toBeLessThan(seen.indexOf('a ends'));
});
