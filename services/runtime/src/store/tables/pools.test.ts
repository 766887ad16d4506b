import type { Database, PoolLimits } from '@orrery/database';
import { Resources } from '@orrery/service-kit';
import { afterEach, expect, it, vi } from 'vitest';
import { boundReads, openPools } from './pools.js';
import type { RuntimeSchema } from './schema.js';

const never = new AbortController().signal;
/** As many as a gateway admits at once, by default. */
const READS = 1000;

afterEach(() => void vi.useRealTimers());

const readAll = (ms: number) => {
  const reading = boundReads();
  const refusals: string[] = [];
  let answered = 0;
  const read = () => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const count = () => {
    answered += 1;
  };
  const refuse = ({ code }: { code: string }) => void refusals.push(code);
  for (let n = 0; n < READS; n += 1) reading.run(never, read).then(count, refuse);
  return { refusals, answered: () => answered };
};

it('answers a thousand quick reads that come at once', async () => {
  vi.useFakeTimers();
  const { refusals, answered } = readAll(1);
  await vi.advanceTimersByTimeAsync(500);
  expect([answered(), refusals]).toEqual([READS, []]);
});

it('refuses slow reads once they have waited for two seconds', async () => {
  vi.useFakeTimers();
  const { refusals, answered } = readAll(10_000);
  await vi.advanceTimersByTimeAsync(1999);
  expect(refusals).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(refusals).toEqual(Array.from({ length: READS - 8 }, () => 'overloaded'));
  await vi.advanceTimersByTimeAsync(8000);
  expect(answered()).toBe(8);
});

/** The limits of the connections for leases that last so long. */
function limitsFor(leaseTtlMs: number): PoolLimits | undefined {
  const opened: PoolLimits[] = [];
  const beside = (limits: PoolLimits) => {
    opened.push(limits);
    return { [Symbol.asyncDispose]: async () => undefined };
  };
  openPools(
    { beside } as unknown as Database<RuntimeSchema>,
    { leaseTtlMs, queriesAtOnce: 1 },
    new Resources(),
  );
  return opened[0];
}

it.each([
  [500, 167, 2000],
  [60_000, 20_000, 20_000],
])('of leases of %i ms a statement takes %i ms at most, and its connection %i', (ttl, statement, wait) => {
  expect(limitsFor(ttl)).toEqual({
    maxConnections: 2,
    statementTimeoutMs: statement,
    lockTimeoutMs: statement,
    maxWaitMs: wait,
  });
});
