import { expect, it } from 'vitest';
import { preparePaymentFaults, type Trial } from './payment-faults.js';
import { prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const run = await preparePaymentFaults(house);

/** Some of the trials of `payment-faults.ext.test.ts`. */
const TRIALS: readonly [Trial, status: string][] = [
  [{ stop: 'before it is staged', conduct: 'settles', late: 'settles' }, 'settled'],
  [{ stop: 'before it is settling', conduct: 'refuses', late: 'refuses' }, 'refused'],
  [{ stop: 'before the call', conduct: 'refuses', late: 'settles' }, 'settled'],
  [{ stop: 'before the call', conduct: 'refuses', late: 'refuses' }, 'refused'],
  [{ stop: 'after the charge', conduct: 'refuses', late: 'refuses' }, 'settled'],
  [{ stop: 'before the end', conduct: 'unreachable', late: 'unreachable' }, 'settled'],
  [{ stop: 'before it awaits', conduct: 'settles', late: 'settles' }, 'settled'],
  [{ stop: 'before it is paid', conduct: 'refuses', late: 'refuses' }, 'settled'],
  [{ stop: 'before the paid end', conduct: 'refuses', late: 'refuses' }, 'settled'],
];

it.each(TRIALS)(
  '%o ends as %s, charged at most once, never without a result, nor with one for nothing',
  async (trial, status) => {
    const verdict = await run(trial);
    expect(verdict).toMatchObject({ status, isCounted: true, isTimed: true, unserved: false, unpaid: false });
    expect([verdict.charges, verdict.succeeded + verdict.failed]).toEqual([status === 'settled' ? 1 : 0, 1]);
  },
);
