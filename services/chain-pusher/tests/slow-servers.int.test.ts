import { systemClock } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { chainDouble, prepareSending } from './sending-house.js';

/** Renews at once what is due in 20 seconds: no lease of this test ends because the machine is busy. */
const leaseTtlMs = 60_000;
const hurried = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 20), signal),
};

it('a round that takes longer than the lease of its chain keeps it, though another process waits for it', async () => {
  const { db, lane, start } = await prepareSending();
  /** As if half of the lease had gone by; ends when it is whole again. */
  const outlastLease = async () => {
    await sql`update chains set expires_at = expires_at - interval '30 seconds'`.execute(db);
    const isWhole = sql`select from chains where expires_at > now() + interval '45 seconds'`;
    await vi.waitFor(async () => expect((await isWhole.execute(db)).rows).toHaveLength(1));
  };
  const { port, pushed } = chainDouble();
  const slowly: typeof port = {
    ...port,
    sign: async (...given) => {
      for (let third = 0; third < 3; third += 1) await outlastLease();
      return port.sign(...given);
    },
  };
  await lane('a', 1);
  for (const owner of ['one', 'two']) await start(slowly, { owner, leaseTtlMs, clock: hurried });
  await vi.waitFor(() => expect(pushed).toMatchObject([{ deployment: 'a' }]));
  const { epoch } = await db.selectFrom('chains').select('epoch').executeTakeFirstOrThrow();
  expect(Number(epoch)).toBe(1);
});
