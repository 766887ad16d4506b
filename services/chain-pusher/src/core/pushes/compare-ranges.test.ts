import { expect, it } from 'vitest';
import { batchDigest } from './batch.js';
import { compareRanges, type RecordedPushes } from './compare-ranges.js';

const own = new Map([1, 2, 3, 4].map((number) => [number, `d${number}`]));
const recorded = (from: number, more: Partial<RecordedPushes> = {}): RecordedPushes => ({
  from,
  to: from,
  digest: `d${from}`,
  transaction: 't',
  ...more,
});
const compare = (sent: number, ...ranges: RecordedPushes[]) => compareRanges(ranges, sent, own);

it('what is equal is taken, the pushes of one transaction as one range', () => {
  expect(compare(1, recorded(2, { transaction: 's' }), recorded(3), recorded(4))).toEqual({
    equal: [
      { from: 2, to: 2, transaction: 's' },
      { from: 3, to: 4, transaction: 't' },
    ],
    end: undefined,
  });
});

it('a batch is compared by its digest, also where it began before what was sent', () => {
  const digest = batchDigest(['d2', 'd3']);
  expect(compare(2, recorded(2, { to: 3, digest })).equal).toEqual([{ from: 2, to: 3, transaction: 't' }]);
  expect(compare(2, recorded(2, { to: 3 })).end).toBe('ahead');
});

it('another digest and a number left out end it, and a push that is not read yet', () => {
  expect(compare(0, recorded(1), recorded(2, { digest: 'x' }), recorded(3))).toEqual({
    equal: [{ from: 1, to: 1, transaction: 't' }],
    end: 'ahead',
  });
  expect(compare(0, recorded(2))).toEqual({ equal: [], end: 'ahead' });
  expect(compare(4, recorded(5))).toEqual({ equal: [], end: 'unread' });
  expect(compare(4)).toEqual({ equal: [], end: undefined });
});
