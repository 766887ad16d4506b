import { FakeClock } from '@orrery/testing';
import { expect, it } from 'vitest';
import {
  CircuitBreaker,
  Circuits,
  FAILURE_INTERVAL_MS,
  FAILURES_TO_OPEN,
  OPEN_MS,
  type Passed,
} from './circuits.js';

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

it('lets another call pass where the one takes longer than a circuit is open', async () => {
  const { clock, breaker, passage, fail } = setUp();
  await fail(FAILURES_TO_OPEN);
  await clock.advance(OPEN_MS);
  const slow = passage();
  await clock.advance(OPEN_MS - 1);
  expect(breaker.enter()).toEqual({ openForMs: 1 });
  await clock.advance(1);
  passage()('answered');
  slow('failed');
  passage();
});

/** Calls of deployments and accounts to one server. */
function openCircuits() {
  const clock = new FakeClock();
  const circuits = new Circuits(clock);
  const enter = (deployment: string, accountId: number, baseUrl = 'http://a/v1') =>
    circuits.enter({ baseUrl, deployment, accountId });
  const passes = (...caller: Parameters<typeof enter>) => typeof enter(...caller) === 'function';
  const end = (passed: Passed, ...caller: Parameters<typeof enter>) => {
    const ended = enter(...caller);
    if (typeof ended === 'function') ended(passed);
  };
  const fail = async (...caller: Parameters<typeof enter>) => {
    for (let time = 0; time < FAILURES_TO_OPEN; time += 1) {
      await clock.advance(FAILURE_INTERVAL_MS);
      end('failed', ...caller);
    }
  };
  return { clock, enter, passes, end, fail };
}

it('of one account are open for its own failing deployments alone', async () => {
  const { clock, passes, end, fail } = openCircuits();
  await fail('0x1', 1);
  await fail('0x2', 1);
  expect([passes('0x1', 1), passes('0x2', 1)]).toEqual([false, false]);
  expect([passes('0x3', 1), passes('0x4', 2), passes('0x1', 1, 'http://b/v1')]).toEqual([true, true, true]);
  await clock.advance(OPEN_MS);
  end('failed', '0x4', 2);
  end('failed', '0x1', 1);
  expect(passes('0x4', 2)).toBe(true);
});

it('of two accounts keep all from a server until one is over or the server answers', async () => {
  const { clock, passes, end, fail } = openCircuits();
  await fail('0x1', 1);
  await fail('0x2', 2);
  expect([passes('0x3', 3), passes('0x3', 3, 'http://b/v1')]).toEqual([false, true]);
  await clock.advance(OPEN_MS - FAILURES_TO_OPEN * FAILURE_INTERVAL_MS);
  expect([passes('0x3', 3), passes('0x2', 2)]).toEqual([true, false]);
  end('failed', '0x1', 1);
  expect(passes('0x3', 3)).toBe(false);
});

it('of two accounts are told from a server that answers others', async () => {
  const { clock, passes, end, fail } = openCircuits();
  await fail('0x1', 1);
  await clock.advance(OPEN_MS);
  await fail('0x2', 2);
  end('answered', '0x3', 3);
  end('failed', '0x1', 1);
  expect([passes('0x1', 1), passes('0x2', 2), passes('0x3', 3)]).toEqual([false, false, true]);
});

it('of two accounts keep all others out while their probes are out, and no longer where these are given up', async () => {
  const { clock, passes, enter, fail } = openCircuits();
  await fail('0x1', 1);
  await fail('0x2', 2);
  await clock.advance(OPEN_MS);
  const probes = [enter('0x1', 1), enter('0x2', 2)];
  await clock.advance(OPEN_MS - 1);
  expect(passes('0x3', 3)).toBe(false);
  for (const end of probes) if (typeof end === 'function') end('cancelled');
  expect(passes('0x3', 3)).toBe(true);
});
