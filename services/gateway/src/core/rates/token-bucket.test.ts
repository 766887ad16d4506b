import { expect, it } from 'vitest';
import { decisionOf, perMinute, takeToken } from './token-bucket.js';

const policy = { name: 'p', burst: 2, perSecond: 1 };

it('takes one token of a full bucket, and none of an empty one until it refills', () => {
  const first = takeToken(undefined, policy, 0);
  const second = takeToken(first.bucket, policy, 0);
  const third = takeToken(second.bucket, policy, 500);
  const fourth = takeToken(third.bucket, policy, 1000);
  const decisions = [first, second, third, fourth].map(({ decision }) => decision.allowed);
  expect(decisions).toEqual([true, true, false, true]);
  expect(third.decision.waitSeconds).toBeCloseTo(0.5);
});

it('decides by the tokens that remain', () => {
  const full = { allowed: true, remaining: 1, waitSeconds: 0, fullSeconds: 1 };
  expect(decisionOf(1, true, policy)).toEqual(full);
  expect(decisionOf(0.25, false, policy)).toMatchObject({ remaining: 0, waitSeconds: 0.75 });
});

it('lets the requests of a minute come at once', () => {
  expect(perMinute('m', 30)).toEqual({ name: 'm', burst: 30, perSecond: 0.5 });
});
