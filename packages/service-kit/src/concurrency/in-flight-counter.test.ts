import { expect, it } from 'vitest';
import { createInFlightCounter } from './in-flight-counter.js';

it('resolves once nothing of the keys is in flight, whatever other keys do', async () => {
  const inFlight = createInFlightCounter();
  await inFlight.untilNone([1, 2]);
  inFlight.begin(1);
  inFlight.begin(1);
  inFlight.begin(3);
  let isNone = false;
  const none = inFlight.untilNone([1, 2]).then(() => {
    isNone = true;
  });
  inFlight.end(1);
  await new Promise(setImmediate);
  expect(isNone).toBe(false);
  inFlight.end(1);
  await none;
});
