import { expect, it } from 'vitest';
import { lastThatHolds } from './last-that-holds.js';

it('finds the last one, whichever it is, and asks few', async () => {
  for (let to = 5; to <= 40; to += 1)
    for (let last = 5; last <= to; last += 1) {
      const asked: number[] = [];
      const found = await lastThatHolds(5, to, async (number) => {
        asked.push(number);
        return number <= last;
      });
      expect([found, asked.includes(5)]).toEqual([last, false]);
      expect(asked.length).toBeLessThanOrEqual(Math.ceil(Math.log2(to - 4)));
    }
});
