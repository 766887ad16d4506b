import { ServiceError, type ServiceExecution } from '@orrery/contracts';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { inShort, MINUTE, prepareHouse, type Scheduler } from './running-scheduler.js';

const house = await prepareHouse();
const { fake, hint, pass, moveTo, ledgerOf, schedulesOf } = house;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

beforeAll(() => house.boot());
/** A quarter of a minute after a full one, with nothing left of the test before. */
beforeEach(async () => {
  fake.hooks.execute = () => 'succeeds';
  fake.hooks.answer = () => undefined;
  fake.hooks.acknowledge = () => undefined;
  for (const address of deployed.splice(0)) {
    fake.remove(address);
    await hint(address);
  }
  await moveTo(Math.ceil(house.now() / HOUR) * HOUR + 15_000);
});

const deployed: string[] = [];
/** A deployment with one event that has a schedule. */
async function deploy(schedule: string, input?: object, event = 'train') {
  const cron = { schedule, ...(input && { input }) } as never;
  const address = fake.deploy({ [event]: fake.version(event, 1, cron) });
  deployed.push(address);
  await hint(address);
  return address;
}
const ranIn = (address: string) => fake.executed.filter(({ deployment }) => deployment === address);
const shown = async (address: string) => (await ledgerOf(address, 'train')).map(inShort);
const failure = (code: string): ServiceExecution => ({
  state: 'ended',
  status: 'failed',
  historyId: '',
  seq: 0,
  error: { code, detail: 'It failed.' },
});
const first = (): Scheduler => house.schedulers[0] as Scheduler;

describe('an occurrence', () => {
  it('is fired at its due time, never before, with what the template makes of it', async () => {
    const input = {
      lap: '{{counter}}',
      last: '{{cronState}}',
      due: '{{scheduledAt}}',
      text: 'lap {{counter}} of {{date}}',
      unix: '{{unix}}',
      at: '{{timestamp}}',
    };
    const address = await deploy('* * * * *', input);
    const due = Math.ceil(house.now() / MINUTE) * MINUTE;
    await moveTo(due - 1);
    expect(ranIn(address)).toEqual([]);
    await moveTo(due + 400);
    const at = (time: number) => new Date(time).toISOString();
    const lap = {
      lap: 1,
      last: { counter: 0, scheduledAt: null, result: null },
      due: at(due),
      text: `lap 1 of ${at(due).slice(0, 10)}`,
      unix: due / 1000,
      at: at(due + 400),
    };
    expect(ranIn(address).map(({ input }) => input)).toEqual([lap]);
    await moveTo(due + MINUTE);
    expect(ranIn(address)[1]?.input).toMatchObject({
      lap: 2,
      last: { counter: 1, scheduledAt: at(due), result: lap },
    });
    const [row] = await ledgerOf(address, 'train');
    expect(row).toMatchObject({
      kind: 'due',
      status: 'fired',
      outcome: 'succeeded',
      counter: 1,
      attempts: 1,
      eventVersion: 1,
      historyId: expect.stringContaining('entry-'),
      startedAt: at(due + 400),
    });
    expect((await schedulesOf(address))[0]).toMatchObject({
      counter: 2,
      nextAt: at(due + 2 * MINUTE),
      lastOccurrence: { counter: 2, status: 'fired' },
    });
  });

  it('is executed once when the answer is lost, and recorded when it is known', async () => {
    const address = await deploy('* * * * *');
    let lost = 2;
    fake.hooks.answer = () => {
      if (lost-- > 0) throw new ServiceError('unavailable');
    };
    await pass(1);
    expect((await shown(address))[0]).toContain('running');
    await moveTo(house.now() + 5_000);
    await moveTo(house.now() + 5_000);
    expect((await shown(address))[0]).toContain('fired succeeded');
    expect(ranIn(address)).toHaveLength(1);
  });

  it('is taken up by another process when the one that had it is gone, at any moment', async () => {
    for (const lose of ['before the call', 'after the call'] as const) {
      const address = await deploy('* * * * *');
      const away = () => {
        throw new ServiceError('unavailable');
      };
      if (lose === 'before the call') fake.hooks.execute = away;
      else fake.hooks.answer = away;
      await pass(1);
      expect(ranIn(address)).toHaveLength(lose === 'before the call' ? 0 : 1);
      // As if the process had been killed before it recorded anything.
      await first()
        .db.updateTable('occurrences')
        .set({ repeats: 0, claimed_until: new Date(house.now() + 30_000) })
        .where('schedule_id', 'in', ({ selectFrom }) =>
          selectFrom('schedules').select('id').where('deployment', '=', address),
        )
        .execute();
      fake.hooks.execute = () => 'succeeds';
      fake.hooks.answer = () => undefined;
      await moveTo(house.now() + 29_000);
      expect((await shown(address))[0]).toContain('running');
      await moveTo(house.now() + 2_000);
      expect((await shown(address))[0]).toContain('fired succeeded');
      expect(ranIn(address)).toHaveLength(1);
    }
  });

  it('whose run goes on is asked for until it has ended', async () => {
    const address = await deploy('* * * * *');
    fake.hooks.execute = () => ({ state: 'running', executionId: 'run' });
    await pass(1);
    expect((await shown(address))[0]).toContain('running');
    await pass(2);
    expect((await shown(address)).map((row) => row.slice(6))).toEqual([
      'running',
      'skipped overlap',
      'skipped overlap',
    ]);
    fake.hooks.execute = () => 'succeeds';
    await moveTo(house.now() + 31_000);
    expect((await shown(address)).map((row) => row.slice(6))).toEqual([
      'fired succeeded',
      'skipped overlap',
      'skipped overlap',
    ]);
    await pass(1);
    expect((await schedulesOf(address))[0]).toMatchObject({ counter: 2 });
  });

  it('whose run has ended is asked for at once', async () => {
    const address = await deploy('0 * * * *');
    const other = await deploy('0 * * * *');
    let isOver = false;
    fake.hooks.execute = ({ deployment }) =>
      isOver && deployment === address ? 'succeeds' : { state: 'running', executionId: 'run' };
    await moveTo(Math.ceil(house.now() / HOUR) * HOUR);
    for (let n = 0; n < 7; n += 1) await moveTo(house.now() + 31_000);
    isOver = true;
    const due = new Date(Math.floor(house.now() / HOUR) * HOUR).toISOString();
    await house.tellEnded(`${address}/${due}/1/train`, 'no/such', `${address}/run 7/1/train`);
    await house.until(async () => expect((await shown(address))[0]).toContain('fired succeeded'));
    expect((await shown(other))[0]).toContain('running');
    fake.hooks.execute = () => 'succeeds';
    await moveTo(house.now() + 31_000);
  });

  it('that overlaps for hours shares one row with the others, beyond the first hundred', async () => {
    const address = await deploy('* * * * *');
    fake.hooks.execute = () => ({ state: 'running', executionId: 'run' });
    await pass(130);
    const ledger = await ledgerOf(address, 'train', { limit: 100 });
    const spans = ledger.filter(({ kind }) => kind === 'span');
    expect(spans).toMatchObject([{ status: 'skipped', reason: 'overlap', count: 29 }]);
    const total = await first()
      .db.selectFrom('occurrences')
      .innerJoin('schedules', 'schedules.id', 'occurrences.schedule_id')
      .select(({ fn }) => fn.sum('count').as('sum'))
      .where('deployment', '=', address)
      .executeTakeFirstOrThrow();
    expect(Number(total.sum)).toBe(130);
  });
});

describe('a failed run', () => {
  it('counts as fired, and is not retried when it would fail again', async () => {
    const address = await deploy('* * * * *');
    fake.hooks.execute = () => failure('invalid_state');
    await pass(2);
    expect(ranIn(address)).toHaveLength(2);
    expect((await schedulesOf(address))[0]).toMatchObject({
      counter: 2,
      consecutiveFailures: 2,
      lastError: { code: 'invalid_state' },
    });
    const seen: unknown[] = [];
    fake.hooks.execute = ({ input }) => {
      seen.push(input);
      return 'succeeds';
    };
    await pass(1);
    expect((await schedulesOf(address))[0]).toMatchObject({
      counter: 3,
      consecutiveFailures: 0,
      lastError: null,
    });
  });

  it('leaves no result in the state', async () => {
    const address = await deploy('* * * * *', { last: '{{cronState.result}}', n: '{{counter}}' });
    await pass(1);
    fake.hooks.execute = () => failure('invalid_state');
    await pass(1);
    fake.hooks.execute = () => 'succeeds';
    await pass(1);
    expect(ranIn(address).map(({ input }) => input['last'])).toEqual([null, { last: null, n: 1 }, null]);
  });

  it('is retried when it may succeed, three attempts in all, each with a key of its own', async () => {
    const address = await deploy('0 * * * *');
    fake.hooks.execute = () => failure('ai_output_invalid');
    await moveTo(Math.ceil(house.now() / HOUR) * HOUR);
    for (let n = 0; n < 10; n += 1) await moveTo(house.now() + 10_000);
    const keys = ranIn(address).map(({ key }) => key);
    expect(keys.map((key) => key.split('/')[2])).toEqual(['1', '2', '3']);
    expect((await ledgerOf(address, 'train'))[0]).toMatchObject({
      status: 'fired',
      outcome: 'failed',
      attempts: 3,
      counter: 1,
      error: { code: 'ai_output_invalid' },
    });
    expect(fake.acknowledged).toEqual(expect.not.arrayContaining(keys));
    await moveTo(house.now() + 10 * MINUTE);
    expect(fake.acknowledged).toEqual(expect.arrayContaining(keys));
  });

  it('is acknowledged by no process that has just started: the runtime may be starting beside it', async () => {
    const address = await deploy('0 * * * *');
    await moveTo(Math.ceil(house.now() / HOUR) * HOUR);
    expect(ranIn(address)).toHaveLength(1);
    house.jump(11 * MINUTE);
    const asked = vi.fn(() => {
      throw new ServiceError('unavailable');
    });
    fake.hooks.acknowledge = asked;
    await using second = await house.boot();
    house.schedulers.pop();
    // It comes after a run that the process has begun by itself.
    await expect(second.firing.acknowledging.runOnce()).rejects.toMatchObject({ code: 'unavailable' });
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('is retried after 5 and 20 seconds, without being looked for', async () => {
    const address = await deploy('0 * * * *');
    fake.hooks.execute = () => failure('ai_output_invalid');
    house.jump(HOUR - (house.now() % HOUR));
    first().firing.loop.wake();
    await vi.waitFor(() => expect(ranIn(address)).toHaveLength(1));
    for (const [attempts, pause] of [
      [2, 5_000],
      [3, 20_000],
    ] as const) {
      await first().firing.dispatcher.idle();
      house.jump(pause);
      // A look for what is due comes every 15 s.
      await house.clock.advance(pause);
      await vi.waitFor(() => expect(ranIn(address)).toHaveLength(attempts));
    }
  });

  it.each(['unbound', 'paused'] as const)(
    'has fired and failed when its deployment is %s before the next attempt',
    async (what) => {
      const address = await deploy('0 * * * *');
      fake.hooks.execute = () => failure('ai_output_invalid');
      await moveTo(Math.ceil(house.now() / HOUR) * HOUR);
      fake.hooks.execute = () => 'succeeds';
      if (what === 'unbound') fake.unbind(address, 'train');
      else fake.pause(address);
      await moveTo(house.now() + 10_000);
      expect((await ledgerOf(address, 'train'))[0]).toMatchObject({
        status: 'fired',
        outcome: 'failed',
        reason: null,
        counter: 1,
        historyId: expect.stringContaining('entry-'),
        seq: expect.any(Number),
        error: { code: 'ai_output_invalid' },
      });
      expect(ranIn(address)).toHaveLength(1);
      const { counter, consecutive_failures } = await first()
        .db.selectFrom('schedules')
        .select(['counter', 'consecutive_failures'])
        .where('deployment', '=', address)
        .executeTakeFirstOrThrow();
      expect({ counter, consecutive_failures }).toEqual({ counter: 1, consecutive_failures: 1 });
    },
  );

  it('is not retried so late that it would run into the next due time', async () => {
    const address = await deploy('* * * * *');
    fake.hooks.execute = () => failure('ai_output_invalid');
    const due = Math.ceil(house.now() / MINUTE) * MINUTE;
    await moveTo(due + 52_000);
    await moveTo(due + 59_000);
    expect(ranIn(address)).toHaveLength(1);
    expect((await shown(address))[0]).toContain('fired failed');
  });

  it('is one too when its reason is no text that a database takes, and keeps no other from running', async () => {
    const poisonous = await deploy('* * * * *', { name: '{{ fail("\\x00") }}' });
    const other = await deploy('* * * * *');
    await pass(1);
    const [failed] = await ledgerOf(poisonous, 'train');
    expect(failed).toMatchObject({ outcome: 'failed', error: { code: 'template_failed' } });
    expect(failed?.error?.detail).toContain('\ufffd');
    expect(ranIn(other)).toHaveLength(1);
  });

  it('is one too when the input cannot be made or is refused', async () => {
    const address = await deploy('* * * * *', { name: '{{cronState.result.name}}' });
    await pass(1);
    expect((await ledgerOf(address, 'train'))[0]).toMatchObject({
      outcome: 'failed',
      attempts: 1,
      historyId: null,
      error: { code: 'template_failed' },
    });
    fake.hooks.execute = () => {
      throw new ServiceError('invalid_input', 'No such input.');
    };
    const other = await deploy('* * * * *');
    await pass(1);
    expect((await ledgerOf(other, 'train'))[0]).toMatchObject({
      outcome: 'failed',
      error: { code: 'invalid_input', detail: 'No such input.' },
    });
  });
});

describe('after downtime', () => {
  it('the latest due time of the last hour runs once, and the older ones are missed', async () => {
    const address = await deploy('*/10 * * * *');
    await pass(10);
    expect(ranIn(address)).toHaveLength(1);
    await moveTo(house.now() + 45 * MINUTE);
    expect((await shown(address)).map((row) => row.slice(6))).toEqual([
      'fired succeeded',
      'missed downtime',
      'missed downtime',
      'missed downtime',
      'fired succeeded',
    ]);
  });

  it('what is older than an hour does not run any more', async () => {
    const address = await deploy('0 6 * * *');
    await moveTo(Math.ceil(house.now() / DAY) * DAY + 2 * DAY + 7 * HOUR + 1);
    expect(ranIn(address)).toEqual([]);
    const ledger = await ledgerOf(address, 'train');
    expect(ledger.length).toBeGreaterThanOrEqual(3);
    expect(new Set(ledger.map(({ status }) => status))).toEqual(new Set(['missed']));
  });

  it('of days the last hundred are listed and the rest is one row with a count', async () => {
    const address = await deploy('* * * * *');
    const [{ nextAt } = { nextAt: null }] = await schedulesOf(address);
    await moveTo(house.now() + 3 * DAY);
    const rows = await first()
      .db.selectFrom('occurrences')
      .innerJoin('schedules', 'schedules.id', 'occurrences.schedule_id')
      .select(['occurrences.kind', 'occurrences.status', 'occurrences.count', 'occurrences.due_at', 'until'])
      .where('deployment', '=', address)
      .orderBy('due_at')
      .execute();
    expect(rows).toHaveLength(102);
    expect(rows[0]).toMatchObject({
      kind: 'span',
      status: 'missed',
      count: 3 * 24 * 60 - 101,
      due_at: new Date(nextAt ?? ''),
    });
    expect(rows[1]?.due_at.getTime()).toBe((rows[0]?.until?.getTime() ?? 0) + MINUTE);
    expect(ranIn(address)).toHaveLength(1);
  });
});

describe('any number of schedulers', () => {
  it('share the work, and each occurrence happens once', async () => {
    const addresses = await Promise.all(Array.from({ length: 40 }, () => deploy('* * * * *')));
    await house.boot();
    for (let n = 0; n < 3; n += 1) {
      house.jump(MINUTE);
      await Promise.all(house.schedulers.map(({ firing }) => firing.loop.runOnce()));
      await house.settle();
    }
    for (const address of addresses) expect(ranIn(address)).toHaveLength(3);
  });
});
