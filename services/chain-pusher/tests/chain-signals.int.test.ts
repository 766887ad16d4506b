import { startTelemetry, systemClock } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { holdLease } from '../src/store/chains/chain-lease.js';
import { chainDouble, prepareSending } from './sending-house.js';

/** No lease of these tests ends because the machine is busy. */
const leaseTtlMs = 3_600_000;

/** A sender to a chain that is available, and what its process tells of the chain. */
async function measuredSending() {
  const house = await prepareSending();
  const { db } = house;
  // What is started before the telemetry is measured by nobody, as if it were in another process.
  const startElsewhere = house.start;
  const measure = async () => {
    const telemetry = await startTelemetry({ service: 'test', tracing: false, metrics: true });
    onTestFinished(() => telemetry[Symbol.asyncDispose]());
    return async () =>
      (await telemetry.metricsPage())
        .split('\n')
        .flatMap(
          (line) => /^orrery_chain_(available|balance)\{.*\} (\S+)/.exec(line)?.slice(1, 3).join(' ') ?? [],
        );
  };
  /** As if the process that had the lease had been paused for too long. */
  const give = (owner: string) =>
    sql`update chains set owner = ${owner}, epoch = epoch + 1, expires_at = now() + interval '1 hour'`.execute(
      db,
    );
  return { ...house, startElsewhere, measure, give };
}

const AVAILABLE = ['available 1', 'balance 1'];
const NOTHING: string[] = [];

it('a process tells nothing of a chain that another one sends to by now', async () => {
  const { db, startElsewhere, start, measure, give } = await measuredSending();
  await holdLease(db, 'local', 'nobody', leaseTtlMs);
  const dead = chainDouble({ check: async () => ({ reason: 'it is gone', balance: null }) });
  await startElsewhere(dead.port, { owner: 'B', leaseTtlMs });
  const told = await measure();
  await start(chainDouble().port, { owner: 'A', leaseTtlMs });
  expect(await told()).toEqual(NOTHING);
  await give('A');
  await vi.waitFor(async () => expect(await told()).toEqual(AVAILABLE));
  await give('B');
  const reason = () => db.selectFrom('chains').select('reason').executeTakeFirstOrThrow();
  await vi.waitFor(async () => expect(await reason()).toEqual({ reason: 'it is gone' }));
  await vi.waitFor(async () => expect(await told()).toEqual(NOTHING));
  await give('A');
  await vi.waitFor(async () => expect(await told()).toEqual(AVAILABLE));
});

it('a process that cannot renew its lease tells nothing of the chain once that has ended', async () => {
  const { db, start, measure } = await measuredSending();
  const told = await measure();
  let aheadMs = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
  await start(chainDouble().port, { leaseTtlMs, clock });
  await vi.waitFor(async () => expect(await told()).toEqual(AVAILABLE));
  await db.transaction().execute(async (trx) => {
    await sql`select from chains for update`.execute(trx);
    expect(await told()).toEqual(AVAILABLE);
    aheadMs = leaseTtlMs;
    expect(await told()).toEqual(NOTHING);
  });
  await vi.waitFor(async () => expect(await told()).toEqual(AVAILABLE));
});

it('a process goes on telling of its chain in a round that takes longer than a lease', async () => {
  const { lane, start, measure } = await measuredSending();
  const told = await measure();
  let aheadMs = 0;
  const clock = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + aheadMs,
    // Renews at once what is due in 20 minutes.
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 20), signal),
  };
  const { port } = chainDouble();
  const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const sign: typeof port.sign = async (...given) => {
    begun.resolve();
    await mayEnd.promise;
    return port.sign(...given);
  };
  await lane('a', 1);
  await start({ ...port, sign }, { leaseTtlMs, clock });
  onTestFinished(() => mayEnd.resolve());
  await begun.promise;
  aheadMs = leaseTtlMs;
  await vi.waitFor(async () => expect(await told()).toEqual(AVAILABLE));
});
