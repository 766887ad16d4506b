import { FakeClock } from '@orrery/testing';
import { expect, it } from 'vitest';
import { createCircuitBreaker, FAILURES_TO_OPEN, OPEN_MS, type Passage } from './circuit-breaker.js';

function setUp() {
  const clock = new FakeClock();
  const breaker = createCircuitBreaker(clock);
  const passage = (): Passage => {
    const entered = breaker.enter();
    if ('openForMs' in entered) throw new Error(`open for ${entered.openForMs} ms`);
    return entered;
  };
  const fail = (times: number) => {
    for (let time = 0; time < times; time += 1) passage().failed();
  };
  return { clock, breaker, passage, fail };
}

it('opens after failures in a row, and lets nothing pass for a while', async () => {
  const { clock, breaker, fail } = setUp();
  fail(FAILURES_TO_OPEN);
  expect(breaker.enter()).toEqual({ openForMs: OPEN_MS });
  await clock.advance(OPEN_MS - 1);
  expect(breaker.enter()).toEqual({ openForMs: 1 });
});

it('stays closed where an answer comes between the failures', () => {
  const { breaker, passage, fail } = setUp();
  fail(FAILURES_TO_OPEN - 1);
  passage().answered();
  fail(FAILURES_TO_OPEN - 1);
  expect(breaker.enter()).not.toHaveProperty('openForMs');
});

it('then lets one call pass: its outcome closes the circuit or opens it again', async () => {
  const { clock, breaker, passage, fail } = setUp();
  fail(FAILURES_TO_OPEN);
  await clock.advance(OPEN_MS);
  const probe = passage();
  expect(breaker.enter()).toHaveProperty('openForMs');
  probe.failed();
  expect(breaker.enter()).toEqual({ openForMs: OPEN_MS });
  await clock.advance(OPEN_MS);
  passage().answered();
  passage();
  fail(FAILURES_TO_OPEN - 1);
  expect(breaker.enter()).not.toHaveProperty('openForMs');
});

it('lets another call pass where the one was given up', async () => {
  const { clock, passage, fail } = setUp();
  fail(FAILURES_TO_OPEN);
  await clock.advance(OPEN_MS);
  passage().cancelled();
  passage().answered();
});
