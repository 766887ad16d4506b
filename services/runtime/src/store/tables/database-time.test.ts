import { createLogger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { expect, it, onTestFinished, vi } from 'vitest';
import { followDatabaseTime } from './database-time.js';

const answer = vi.hoisted(() => ({ ask: async (): Promise<{ now: Date }[]> => [] }));
vi.mock('@orrery/database', () => ({ prepared: () => () => answer.ask() }));

async function following(offsetMs: number) {
  const clock = new FakeClock(1_000_000);
  const state = { offsetMs, takesMs: 0 };
  answer.ask = async () => {
    await clock.advance(state.takesMs / 2);
    const now = new Date(clock.monotonic() + state.offsetMs);
    await clock.advance(state.takesMs / 2);
    return [{ now }];
  };
  const time = await followDatabaseTime(
    {} as never,
    clock,
    createLogger({ service: 'test', level: 'silent' }),
  );
  onTestFinished(() => time[Symbol.asyncDispose]());
  const error = () => time.clock.now() - (clock.monotonic() + state.offsetMs);
  return { clock, state, time, error };
}

it('tells the time of the database, whatever this process takes for the time', async () => {
  const { clock, error } = await following(-300_000);
  expect(error()).toBe(0);
  clock.set(600_000);
  await clock.advance(1234);
  expect(error()).toBe(0);
});

it('follows when the clock of the database is set', async () => {
  const { state, time, error } = await following(0);
  for (const offset of [5_400_000, -90_000]) {
    state.offsetMs = offset;
    await time.measure();
    expect(error()).toBe(0);
  }
});

it('is not misled by an answer that takes long, and never behind the database', async () => {
  const { state, time, error } = await following(50);
  state.takesMs = 4000;
  await time.measure();
  expect(error()).toBe(0);
  state.offsetMs = -10_000;
  await time.measure();
  expect(error()).toBe(2000);
});
