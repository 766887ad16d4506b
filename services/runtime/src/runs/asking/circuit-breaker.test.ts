import { FakeClock } from '@orrery/testing';
import { expect, it } from 'vitest';
import {
  CircuitBreaker,
  FAILURE_INTERVAL_MS,
  FAILURES_TO_OPEN,
  OPEN_MS,
  type Passed,
} from './call-limits.js';

function setUp() {
  const clock = new FakeClock();
  const breaker = new CircuitBreaker(clock);
  const passage = (): ((passed: Passed) => void) => {
    const entered = breaker.enter();
    if (typeof entered !== 'function') throw new Error(`open for ${entered.openForMs} ms`);
    return entered;
  };
  /** Failures that are told apart. */
  const fail = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      await clock.advance(FAILURE_INTERVAL_MS);
      passage()('failed');
    }
  };
  return { clock, breaker, passage, fail };
}

it('opens after failures in a row, and lets nothing pass for a while', async () => {
  const { clock, breaker, fail } = setUp();
  await fail(FAILURES_TO_OPEN);
  expect(breaker.enter()).toEqual({ openForMs: OPEN_MS });
  await clock.advance(OPEN_MS - 1);
  expect(breaker.enter()).toEqual({ openForMs: 1 });
});

it('is open no longer when the clock is set back', async () => {
  const { clock, passage, fail } = setUp();
  await fail(FAILURES_TO_OPEN);
  clock.set(-600_000);
  await clock.advance(OPEN_MS);
  expect(passage()).toBeTypeOf('function');
});

it('stays closed where an answer comes between the failures', async () => {
  const { breaker, passage, fail } = setUp();
  await fail(FAILURES_TO_OPEN - 1);
  passage()('answered');
  await fail(FAILURES_TO_OPEN - 1);
  expect(breaker.enter()).not.toHaveProperty('openForMs');
});

it('then lets one call pass: its outcome closes the circuit or opens it again', async () => {
  const { clock, breaker, passage, fail } = setUp();
  await fail(FAILURES_TO_OPEN);
  await clock.advance(OPEN_MS);
  const probe = passage();
  expect(breaker.enter()).toHaveProperty('openForMs');
  probe('failed');
  expect(breaker.enter()).toEqual({ openForMs: OPEN_MS });
  await clock.advance(OPEN_MS);
  passage()('answered');
  passage();
  await fail(FAILURES_TO_OPEN - 1);
  expect(breaker.enter()).not.toHaveProperty('openForMs');
});

it('lets another call pass where the one was given up', async () => {
  const { clock, passage, fail } = setUp();
  await fail(FAILURES_TO_OPEN);
  await clock.advance(OPEN_MS);
  passage()('cancelled');
  passage()('answered');
});

it('counts what fails within a second once', async () => {
  const { clock, breaker, passage, fail } = setUp();
  await fail(FAILURES_TO_OPEN - 1);
  const many = Array.from({ length: 100 }, passage);
  for (const one of many) {
    await clock.advance((FAILURE_INTERVAL_MS - 1) / many.length);
    one('failed');
  }
  expect(breaker.enter()).not.toHaveProperty('openForMs');
  await fail(1);
  expect(breaker.enter()).toEqual({ openForMs: OPEN_MS });
});

it('is not kept open by calls that passed before it opened', async () => {
  const { clock, breaker, passage, fail } = setUp();
  const early = passage();
  await fail(FAILURES_TO_OPEN);
  await clock.advance(OPEN_MS - 1);
  early('failed');
  expect(breaker.enter()).toEqual({ openForMs: 1 });
});
