import { afterAll, expect, it } from 'vitest';
import { preparePaymentFaults, STOPS, type Trial, type Verdict } from './payment-faults.js';
import type { Conduct } from './payment-world.js';
import { prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const run = await preparePaymentFaults(house);

const CONDUCTS: readonly Conduct[] = [
  'settles',
  'refuses',
  'unreachable',
  'drops its reply',
  'lies about success',
  'lies about refusal',
  'answers 500',
  'charges and answers 500',
  'refuses with a hash that failed',
  'refuses with a hash that charges',
];
const trials: Trial[] = STOPS.flatMap((stop) =>
  CONDUCTS.flatMap((conduct): Trial[] => {
    if (stop !== 'before the call') return [{ stop, conduct, late: conduct }];
    return (['settles', 'refuses'] as const).map((late) => ({ stop, conduct, late }));
  }),
);
const verdicts: [Trial, Verdict][] = [];

it.each(trials)('an owner that stops $stop, then a facilitator that $conduct ($late)', async (trial) => {
  const verdict = await run(trial);
  verdicts.push([trial, verdict]);
  expect(verdict).toMatchObject({ isCounted: true, unpaid: false });
  expect(verdict.charges).toBeLessThanOrEqual(1);
  expect(verdict.succeeded).toBeLessThanOrEqual(1);
});

afterAll(() => {
  const sum = (of: (verdict: Verdict) => boolean) => verdicts.filter(([, verdict]) => of(verdict)).length;
  const counts = [
    `trials: ${verdicts.length}`,
    `double settlements: ${sum(({ charges }) => charges > 1)}`,
    `results without a charge: ${sum(({ unpaid }) => unpaid)}`,
    `charges without a result: ${sum(({ unserved }) => unserved)}`,
    `of these not due for a refund: ${sum(({ unserved, isCounted }) => unserved && !isCounted)}`,
  ];
  process.stdout.write(`${counts.join(', ')}\n`);
});
