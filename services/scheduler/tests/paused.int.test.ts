import { ServiceError, type ServiceExecution } from '@orrery/contracts';
import { sql } from 'kysely';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { askAtOnce } from '../src/store/occurrences/outcome-store.js';
import { MINUTE, prepareHouse, type Scheduler } from './running-scheduler.js';

// A schedule is paused while an occurrence of it has not ended.

const house = await prepareHouse();
const { fake, call, paramsOf, hint, moveTo, ledgerOf } = house;
const HOUR = 60 * MINUTE;
const failed: ServiceExecution = {
  state: 'ended',
  status: 'failed',
  historyId: '',
  seq: 0,
  error: { code: 'ai_output_invalid', detail: 'It failed.' },
};
const away = () => {
  throw new ServiceError('unavailable');
};

beforeAll(() => house.boot());
beforeEach(async () => {
  fake.hooks.execute = () => 'succeeds';
  fake.hooks.answer = () => undefined;
  await moveTo(Math.ceil(house.now() / HOUR) * HOUR + 15_000);
});

/** A deployment whose schedule has become due, with what that led to. */
async function due(): Promise<string> {
  const address = fake.deploy({ train: fake.version('train', 1, { schedule: '0 * * * *' }) });
  await hint(address);
  await moveTo(Math.ceil(house.now() / HOUR) * HOUR);
  fake.hooks.execute = () => 'succeeds';
  fake.hooks.answer = () => undefined;
  return address;
}
const turn = (verb: 'pause' | 'resume', address: string) =>
  call(`schedules.${verb}`, { params: paramsOf(address, 'train') });
const ranIn = (address: string) => fake.executed.filter(({ deployment }) => deployment === address).length;
const first = async (address: string) => (await ledgerOf(address, 'train'))[0];
/** As if a process had taken it up and were gone. */
const takenUp = (address: string) =>
  sql`update occurrences set claimed_until = ${new Date(house.now() + 30_000)}
    where status = 'running' and schedule_id in (select id from schedules where deployment = ${address})`.execute(
    (house.schedulers[0] as Scheduler).db,
  );
const untilAsked = async () => {
  for (let n = 0; n < 3; n += 1) await moveTo(house.now() + 31_000);
};

it('what waits for its next attempt is neither sent earlier nor kept from ending by late word of the one before', async () => {
  fake.hooks.execute = () => failed;
  const address = await due();
  const { db } = house.schedulers[0] as Scheduler;
  const at = new Date(Math.floor(house.now() / HOUR) * HOUR).toISOString();
  await askAtOnce(db, [`${address}/${at}/1/train`], house.now());
  const { data } = await turn('pause', address);
  expect(data).toMatchObject({ lastOccurrence: { status: 'fired', outcome: 'failed', attempts: 1 } });
});

it('what waits for its next attempt stays failed, at once, also when the schedule goes on', async () => {
  fake.hooks.execute = () => failed;
  const address = await due();
  const { data } = await turn('pause', address);
  const ended = { status: 'fired', outcome: 'failed', attempts: 1, error: { code: 'ai_output_invalid' } };
  expect(data).toMatchObject({ status: 'paused', counter: 1, consecutiveFailures: 1, lastOccurrence: ended });
  await turn('resume', address);
  await untilAsked();
  expect(await first(address)).toMatchObject({
    ...ended,
    historyId: expect.stringContaining('entry-'),
    endedAt: data.lastOccurrence?.endedAt,
  });
  expect(ranIn(address)).toBe(1);
});

it('what a process has taken up for its next attempt is not executed', async () => {
  fake.hooks.execute = () => failed;
  const address = await due();
  await takenUp(address);
  expect((await turn('pause', address)).data.lastOccurrence).toMatchObject({ status: 'running' });
  await untilAsked();
  expect(await first(address)).toMatchObject({ status: 'fired', outcome: 'failed', attempts: 1 });
  expect(ranIn(address)).toBe(1);
});

it('what may have been executed is asked for, and not sent again', async () => {
  fake.hooks.answer = away;
  const executed = await due();
  await turn('pause', executed);
  await untilAsked();
  expect(await first(executed)).toMatchObject({ status: 'fired', outcome: 'succeeded', attempts: 1 });
  expect(ranIn(executed)).toBe(1);

  fake.hooks.execute = away;
  const lost = await due();
  await turn('pause', lost);
  await moveTo(house.now() + 10_000);
  // What was sent before the pause may still be on its way.
  expect(await first(lost)).toMatchObject({ status: 'running' });
  await untilAsked();
  expect(await first(lost)).toMatchObject({ status: 'skipped', reason: 'schedule_paused' });
  expect(ranIn(lost)).toBe(0);
});

it('what fails after the pause gets no further attempt', async () => {
  const address = fake.deploy({ train: fake.version('train', 1, { schedule: '0 * * * *' }) });
  await hint(address);
  fake.hooks.execute = async ({ deployment }) => {
    if (deployment === address) await turn('pause', address);
    return deployment === address ? failed : 'succeeds';
  };
  await moveTo(Math.ceil(house.now() / HOUR) * HOUR);
  expect(await first(address)).toMatchObject({ status: 'fired', outcome: 'failed', attempts: 1 });
});

it('what was made for another definition is not made anew', async () => {
  const address = fake.deploy({ train: fake.version('train', 1, { schedule: '0 * * * *' }) });
  await hint(address);
  fake.hooks.execute = async ({ deployment }) => {
    if (deployment !== address) return 'succeeds' as const;
    fake.hooks.execute = () => 'succeeds';
    await turn('pause', address);
    throw new ServiceError('binding_changed');
  };
  await moveTo(Math.ceil(house.now() / HOUR) * HOUR);
  expect(await first(address)).toMatchObject({ status: 'skipped', reason: 'schedule_paused' });
  expect(ranIn(address)).toBe(0);
});
