import { FakeClock } from '@orrery/testing';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { MINUTE, NOON, prepareHouse } from './running-scheduler.js';

// Somebody sets the clock of a process that runs schedulers back.

const house = await prepareHouse();
const { fake, hint, moveTo, ledgerOf } = house;
const BACK_MS = -10 * MINUTE;
/** One occurrence is sent in so many milliseconds. */
const PACE_MS = 10_000;
const [own, other] = [new FakeClock(NOON), new FakeClock(NOON)];

beforeAll(() => house.boot({ concurrency: 1, perSecond: 1000 / PACE_MS }, own));
beforeEach(async () => {
  await own.advance(PACE_MS);
  await moveTo(Math.ceil(house.now() / MINUTE) * MINUTE + 15_000);
});

const deployMany = async (event: string, count: number): Promise<string[]> => {
  const schedule = `${(new Date(house.now()).getUTCMinutes() + 1) % 60} * * * *`;
  const addresses = Array.from({ length: count }, () =>
    fake.deploy({ [event]: fake.version(event, 1, { schedule }) }),
  );
  await hint(...addresses);
  return addresses;
};
/** Moves the database's clock; what begins then is not waited for. */
const jump = (ms: number) => {
  house.jump(ms);
  for (const { firing } of house.schedulers) firing.loop.wake();
};
const nextMinute = () => jump(MINUTE - (house.now() % MINUTE));
const ran = (event: string) => fake.executed.filter((executed) => executed.event === event).length;
const statuses = async (addresses: readonly string[], event: string) => {
  const ledgers = await Promise.all(addresses.map((address) => ledgerOf(address, event)));
  return ledgers.flat().map(({ status }) => status);
};

it('a scheduler goes on sending at its rate', async () => {
  await deployMany('steady', 3);
  nextMinute();
  await vi.waitFor(() => expect(ran('steady')).toBe(1));
  own.set(BACK_MS);
  for (const count of [2, 3])
    await vi.waitFor(async () => {
      // The next one may be claimed only after the pause has begun.
      await own.advance(PACE_MS / 10);
      expect(ran('steady')).toBe(count);
    });
});

it('what waited for half of its claim is not sent: another process may have taken it', async () => {
  const addresses = await deployMany('late', 2);
  nextMinute();
  await vi.waitFor(() => expect(ran('late')).toBe(1));
  const { firing } = house.schedulers[0] as (typeof house.schedulers)[0];
  await vi.waitFor(() => expect(firing.dispatcher.room('fresh')).toBe(0));
  own.set(BACK_MS);
  await own.leap(20_000);
  await firing.dispatcher.idle();
  expect(ran('late')).toBe(1);
  jump(31_000);
  await house.until(async () => expect(await statuses(addresses, 'late')).toEqual(['fired', 'fired']));
  expect(ran('late')).toBe(2);
});

it('of two schedulers, and everything is fired once', async () => {
  await deployMany('before', 1);
  nextMinute();
  await vi.waitFor(() => expect(ran('before')).toBe(1));
  // While it pauses before it sends the next one.
  own.set(BACK_MS);
  await house.boot({}, other);
  const addresses = await deployMany('shared', 6);
  nextMinute();
  await vi.waitFor(async () => {
    await own.advance(PACE_MS);
    expect(await statuses(addresses, 'shared')).toEqual(Array(6).fill('fired'));
  });
  expect(ran('shared')).toBe(6);
});
