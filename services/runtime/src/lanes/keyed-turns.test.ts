import { expect, it } from 'vitest';
import { createKeyedTurns } from './keyed-turns.js';

it('one at a time per key, in order, also after a failure; other keys do not wait', async () => {
  const turns = createKeyedTurns();
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
    turns(1, work('a', true)),
    turns(1, work('b')),
    turns(2, work('c')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(seen.indexOf('b begins')).toBeGreaterThan(seen.indexOf('a ends'));
  expect(seen.indexOf('c begins')).toBeLessThan(seen.indexOf('a ends'));
});
