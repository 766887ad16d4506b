import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { createChooseMoving, createOutsideWork } from './outside-work.js';

const MINE = [0, 32, 16, 48];

function choosing() {
  const onIdle = vi.fn();
  const outside = createOutsideWork(systemClock, onIdle);
  const clock = { monotonic: () => time.now };
  const time = { now: 0 };
  const choose = createChooseMoving({ outside, moveWithinMs: () => 1000, clock });
  return { outside, onIdle, time, choose: (excess: number) => choose(MINE, excess) };
}

/** Work outside that lasts until the function is called that this returns. */
function begin(outside: ReturnType<typeof choosing>['outside'], partition: number): () => Promise<void> {
  let end = () => {};
  const answer = new Promise<void>((resolve) => {
    end = resolve;
  });
  const ended = outside.during(partition, () => answer);
  return () => {
    end();
    return ended;
  };
}

const wait = { waitMs: 20_000, signal: new AbortController().signal };

it('chooses from the end of the taking order where all are idle', () => {
  const { choose } = choosing();
  expect([choose(-1), choose(0), choose(2)]).toEqual([[], [], [48, 16]]);
});

it('chooses idle ones before others, and waits for as many others as are missing', async () => {
  const { choose, outside, onIdle, time } = choosing();
  const ends = [48, 16].map((partition) => begin(outside, partition));
  expect(choose(2)).toEqual([32, 0]);
  expect(onIdle).not.toHaveBeenCalled();
  expect(choose(3)).toEqual([32, 0]);
  const asked = vi.fn(async () => {});
  const waiting = outside.unlessMoving(48, wait, asked);
  await outside.unlessMoving(16, wait, asked);
  expect(asked).toHaveBeenCalledTimes(1);
  await ends[0]?.();
  expect(onIdle).toHaveBeenCalledTimes(1);
  time.now = 500;
  expect(choose(3)).toEqual([48, 32, 0]);
  // It stays after all, and what waited reads anew.
  expect(choose(0)).toEqual([]);
  await waiting;
  expect(asked).toHaveBeenCalledTimes(1);
  await ends[1]?.();
});

it('waits no longer than one call may take', () => {
  const { choose, outside, time } = choosing();
  for (const partition of MINE) void begin(outside, partition);
  expect(choose(1)).toEqual([]);
  time.now = 999;
  expect(choose(1)).toEqual([]);
  time.now = 1000;
  expect(choose(1)).toEqual([48]);
});

it('forgets for how long it has waited once it waits no longer', () => {
  const { choose, outside, time } = choosing();
  for (const partition of MINE) void begin(outside, partition);
  choose(1);
  choose(0);
  time.now = 1000;
  expect(choose(1)).toEqual([]);
});

it('ends the wait of work when its owner is lost, and when its time is over', async () => {
  const { choose, outside } = choosing();
  for (const partition of MINE) void begin(outside, partition);
  choose(1);
  const lost = new AbortController();
  const work = vi.fn(async () => {});
  const waiting = outside.unlessMoving(48, { waitMs: 20_000, signal: lost.signal }, work);
  await turn();
  lost.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  await outside.unlessMoving(48, { waitMs: -1, signal: wait.signal }, work);
  expect(work).not.toHaveBeenCalled();
});
