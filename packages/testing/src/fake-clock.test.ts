import { expect, test } from 'vitest';
import { FakeClock } from './fake-clock.js';

test('sleepers wake in the order in which they are due, each at its time', async () => {
  const clock = new FakeClock(0);
  const woken: [string, number][] = [];
  const sleep = (name: string, ms: number) => clock.sleep(ms).then(() => woken.push([name, clock.now()]));
  void sleep('late', 30);
  void sleep('early', 10);
  void sleep('never', 31);
  await clock.advance(30);
  expect(woken).toEqual([
    ['early', 10],
    ['late', 30],
  ]);
  expect(clock.sleeping).toBe(1);
});

test('a loop that sleeps again is woken as often as its time comes', async () => {
  const { clock, ticks } = ticking();
  await clock.advance(35);
  expect(ticks).toEqual([10, 20, 30]);
  expect(clock.now()).toBe(35);
});

test('an aborted sleep rejects at once and is forgotten', async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const sleeping = clock.sleep(10, abort.signal);
  abort.abort(new Error('enough'));
  await expect(sleeping).rejects.toMatchObject({ name: 'AbortError', cause: { message: 'enough' } });
  expect(clock.sleeping).toBe(0);
  await expect(clock.sleep(10, abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
});

test('a leap wakes who is due by then, once and at the end', async () => {
  const { clock, ticks } = ticking();
  await clock.leap(35);
  expect(ticks).toEqual([35]);
  await clock.advance(10);
  expect(ticks).toEqual([35, 45]);
});

/** A loop that notes the time after every ten milliseconds of sleep. */
function ticking() {
  const clock = new FakeClock(0);
  const ticks: number[] = [];
  const loop = async () => {
    for (;;) {
      await clock.sleep(10);
      ticks.push(clock.now());
    }
  };
  void loop();
  return { clock, ticks };
}

test('setting the clock changes what time it is, and wakes nobody', async () => {
  const clock = new FakeClock(1000);
  const woken: number[] = [];
  void clock.sleep(50).then(() => woken.push(clock.monotonic()));
  clock.set(-600);
  expect([clock.now(), clock.monotonic()]).toEqual([400, 1000]);
  clock.set(100_000);
  await clock.advance(49);
  expect(woken).toEqual([]);
  await clock.advance(1);
  expect(woken).toEqual([1050]);
});
