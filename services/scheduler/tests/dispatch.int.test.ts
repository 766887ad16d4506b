import type { ServiceExecution } from '@orrery/contracts';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { MINUTE, prepareHouse } from './running-scheduler.js';

const house = await prepareHouse();
const { fake, hint, moveTo } = house;
/** More than are sent and wait at once. */
const MANY = 24;

// Room for four, and for one that is sent again.
beforeAll(() => house.boot({ concurrency: 4 }));
beforeEach(() => moveTo(Math.ceil(house.now() / MINUTE) * MINUTE + 15_000));

async function deploy(event: string, schedule: string): Promise<string> {
  const address = fake.deploy({ [event]: fake.version(event, 1, { schedule }) });
  await hint(address);
  return address;
}
const deployMany = (event: string, schedule: string) =>
  Promise.all(Array.from({ length: MANY }, () => deploy(event, schedule)));
/** Moves the database's clock; what begins then is not waited for. */
const moveOn = async (at: number) => {
  house.jump(at - house.now());
  for (const { firing } of house.schedulers) firing.loop.wake();
};
const ran = (event: string) => fake.executed.filter((executed) => executed.event === event).length;

describe('what is slow does not keep from being sent', () => {
  let release: () => void = () => undefined;
  let slow: Promise<void>;
  beforeEach(() => {
    slow = new Promise((resolve) => {
      release = resolve;
    });
  });
  const ended = async () => {
    release();
    await house.until(async () => {
      await house.clock.advance(1000);
      expect(house.schedulers.map(({ firing }) => firing.dispatcher.room('fresh'))).toEqual([16]);
    });
  };

  it('what is due, where the outcomes of many others are not known', async () => {
    const running: ServiceExecution = { state: 'running', executionId: 'run' };
    fake.hooks.execute = () => running;
    const due = Math.ceil(house.now() / MINUTE) * MINUTE;
    const minute = new Date(due).getUTCMinutes();
    await deployMany('slow', `${minute} * * * *`);
    await deployMany('quick', `${(minute + 1) % 60} * * * *`);
    await moveTo(due);
    fake.hooks.execute = async ({ event }) => {
      if (event === 'slow') await slow;
      return 'succeeds' as const;
    };
    // All that were running are asked for again by now.
    await moveOn(due + MINUTE);
    await vi.waitFor(() => expect(ran('quick')).toBe(MANY));
    expect(ran('slow')).toBe(0);
    await ended();
    await house.until(() => expect(ran('slow')).toBe(MANY));
  });

  it('what is due with it', async () => {
    fake.hooks.execute = async ({ event }) => {
      if (event === 'slower') await slow;
      return 'succeeds' as const;
    };
    const due = Math.ceil(house.now() / MINUTE) * MINUTE;
    const minute = new Date(due).getUTCMinutes();
    await deployMany('slower', `${minute} * * * *`);
    await deployMany('quicker', `${minute} * * * *`);
    await moveOn(due);
    await vi.waitFor(async () => {
      await house.clock.advance(1000);
      expect(ran('quicker')).toBe(MANY);
    });
    expect(ran('slower')).toBe(0);
    await ended();
    await moveTo(house.now() + MINUTE);
    await house.until(() => expect(ran('slower')).toBe(MANY));
  });
});
