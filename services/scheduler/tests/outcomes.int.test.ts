import { ServiceError, type ServiceExecution } from '@orrery/contracts';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { recordOutcomes } from '../src/store/occurrences/outcome-store.js';
import { inShort, MINUTE, prepareHouse, type Scheduler } from './running-scheduler.js';

// What the scheduler makes of answers that do not tell how an occurrence ended.

const house = await prepareHouse();
const { fake, hint, moveTo, ledgerOf } = house;
const HOUR = 60 * MINUTE;
beforeAll(() => house.boot());
beforeEach(async () => {
  fake.hooks.execute = () => 'succeeds';
  fake.hooks.answer = () => undefined;
  await moveTo(Math.floor(house.now() / HOUR) * HOUR + 30 * MINUTE);
});

const deploy = async () => {
  const version = fake.version('train', 1, { schedule: '0 * * * *', input: { id: 'a' } } as never);
  const address = fake.deploy({ train: version });
  await hint(address);
  return address;
};
const nextHour = () => moveTo(Math.ceil(house.now() / HOUR) * HOUR);
const shown = async (address: string) => (await ledgerOf(address, 'train')).map(inShort)[0]?.slice(6);
const ranIn = (address: string) => fake.executed.filter(({ deployment }) => deployment === address).length;
const db = () => (house.schedulers[0] as Scheduler).db;
const occurrence = (address: string) =>
  db()
    .selectFrom('occurrences')
    .innerJoin('schedules', 'schedules.id', 'occurrences.schedule_id')
    .selectAll('occurrences')
    .where('deployment', '=', address)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow();
const internal = () => {
  throw new ServiceError('internal');
};

it('an internal error is no outcome: the attempt is sent again', async () => {
  const address = await deploy();
  fake.hooks.answer = internal;
  await nextHour();
  expect(await shown(address)).toBe('running');
  fake.hooks.answer = () => undefined;
  await moveTo(house.now() + 5_000);
  expect(await shown(address)).toBe('fired succeeded');
  expect(ranIn(address)).toBe(1);
});

it('after many of them it ends, and the next one is due again', async () => {
  const address = await deploy();
  fake.hooks.execute = internal;
  await nextHour();
  for (let n = 0; n < 12; n += 1) await moveTo(house.now() + 31_000);
  expect(await shown(address)).toBe('fired failed');
  expect((await ledgerOf(address, 'train'))[0]?.error?.code).toBe('internal');
  expect(ranIn(address)).toBe(0);
});

it('before it ends by them, what became of it is asked for', async () => {
  const address = await deploy();
  fake.hooks.answer = internal;
  await nextHour();
  for (let n = 0; n < 12; n += 1) await moveTo(house.now() + 31_000);
  expect(await shown(address)).toBe('fired succeeded');
  expect(ranIn(address)).toBe(1);
});

it('an outcome is found that another sending of the attempt led to, with another input', async () => {
  const address = await deploy();
  fake.hooks.answer = () => {
    throw new ServiceError('unavailable');
  };
  await nextHour();
  fake.hooks.answer = () => undefined;
  const { id } = await occurrence(address);
  await db()
    .updateTable('occurrences')
    .set({ input: JSON.stringify({ id: 'b' }) as never })
    .where('id', '=', id)
    .execute();
  await moveTo(house.now() + 5_000);
  expect(await shown(address)).toBe('fired succeeded');
  expect(ranIn(address)).toBe(1);
});

it('the late outcome of an attempt does not end the one after it', async () => {
  const address = await deploy();
  const failed: ServiceExecution = {
    state: 'ended',
    status: 'failed',
    historyId: '',
    seq: 0,
    error: { code: 'ai_output_invalid', detail: 'It failed.' },
  };
  fake.hooks.execute = () => failed;
  await nextHour();
  const { id, schedule_id: scheduleId, attempt, due_at } = await occurrence(address);
  expect(attempt).toBe(2);
  const late = { status: 'fired', reason: null, outcome: 'failed', historyId: null, seq: null } as const;
  const told = { id, scheduleId, attempt: 1, attempts: 1, ...late, error: failed.error, result: null };
  await recordOutcomes(db(), [{ ...told, scheduledAt: due_at.toISOString() }], house.now());
  expect(await shown(address)).toBe('running');
  fake.hooks.execute = () => 'succeeds';
  await moveTo(house.now() + 6_000);
  expect(await shown(address)).toBe('fired succeeded');
});
