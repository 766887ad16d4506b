import { EventEmitter, once } from 'node:events';
import { ServiceError } from '@orrery/contracts';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { listSchedules } from '../src/store/schedules/schedule-store.js';
import { MINUTE, prepareHouse, refusalOf } from './running-scheduler.js';

const house = await prepareHouse();
const { fake, call, paramsOf, hint, pass, moveTo, ledgerOf, schedulesOf } = house;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
beforeAll(() => house.boot());
beforeEach(async () => {
  fake.hooks.execute = () => 'succeeds';
  await moveTo(Math.ceil(house.now() / MINUTE) * MINUTE + 15_000);
});

async function deploy(schedule = '* * * * *', input?: object) {
  const cron = { schedule, ...(input && { input }) } as never;
  const address = fake.deploy({ train: fake.version('train', 1, cron) });
  await hint(address);
  return address;
}
const act = (verb: 'pause' | 'resume', address: string, accountId = 1, event = 'train') =>
  call(`schedules.${verb}`, { params: paramsOf(address, event) }, accountId);
const run = (address: string, headers: object = {}, accountId = 1) =>
  call('schedules.run', { params: paramsOf(address, 'train'), headers }, accountId);
const ranIn = (address: string) => fake.executed.filter(({ deployment }) => deployment === address);

describe('pausing a schedule', () => {
  it('stops it until it is resumed, with one row in its ledger', async () => {
    const address = await deploy();
    await pass(1);
    const { data: paused } = await act('pause', address);
    expect(paused).toMatchObject({ status: 'paused', pausedBy: ['schedule'], nextAt: null, counter: 1 });
    expect((await act('pause', address)).data).toEqual(paused);
    await pass(3);
    const { data: resumed } = await act('resume', address);
    const next = Math.ceil(house.now() / MINUTE) * MINUTE;
    expect(resumed).toMatchObject({ status: 'active', pausedBy: [], nextAt: new Date(next).toISOString() });
    await pass(1);
    const ledger = await ledgerOf(address, 'train');
    expect(ledger.map(({ status, counter }) => [status, counter])).toEqual([
      ['fired', 1],
      ['paused', null],
      ['fired', 2],
    ]);
    expect(ledger[1]).toMatchObject({ reason: 'schedule_paused', kind: 'pause' });
    expect(await ledgerOf(address, 'train', { status: 'paused' })).toHaveLength(1);
  });

  it('is kept when the event is bound to another version', async () => {
    const address = await deploy();
    await act('pause', address);
    fake.bind(address, 'train', fake.version('train', 2, { schedule: '0 * * * *' }));
    expect((await schedulesOf(address))[0]).toMatchObject({ eventVersion: 2, status: 'paused' });
    await pass(2);
    expect(ranIn(address)).toEqual([]);
  });
});

describe('running a schedule now', () => {
  it('executes it at once and leaves counter, state and due times alone', async () => {
    const address = await deploy('0 0 1 1 *', { n: '{{counter}}', at: '{{scheduledAt}}' });
    const [before] = await schedulesOf(address);
    const { data } = await run(address);
    expect(data).toMatchObject({
      kind: 'manual',
      status: 'fired',
      outcome: 'succeeded',
      dueAt: new Date(house.now()).toISOString(),
      historyId: expect.any(String),
    });
    expect(ranIn(address)[0]?.input).toEqual({ n: 1, at: new Date(house.now()).toISOString() });
    const [after] = await schedulesOf(address);
    expect({ ...after, lastOccurrence: null }).toEqual({ ...before, lastOccurrence: null });
    expect(after?.lastOccurrence).toEqual(data);
  });

  it('answers the same run for the same key', async () => {
    const address = await deploy('0 0 1 1 *');
    const headers = { 'idempotency-key': 'once' };
    const { data } = await run(address, headers);
    expect((await run(address, headers)).data).toEqual(data);
    expect(ranIn(address)).toHaveLength(1);
  });

  it('says what it failed with, and makes no further attempt', async () => {
    const address = await deploy('0 0 1 1 *');
    const error = { code: 'ai_output_invalid', detail: 'No.' };
    fake.hooks.execute = () => ({ state: 'ended', status: 'failed', historyId: '', seq: 0, error });
    expect((await run(address)).data).toMatchObject({ status: 'fired', outcome: 'failed', error });
    expect((await schedulesOf(address))[0]).toMatchObject({ consecutiveFailures: 0 });
  });

  it('works while the schedule is paused, and not while the deployment is', async () => {
    const address = await deploy();
    await act('pause', address);
    expect((await run(address)).data).toMatchObject({ status: 'fired' });
    fake.pause(address);
    expect((await refusalOf(run(address))).code).toBe('deployment_paused');
  });

  it('that is made anew shows the counter that its input has', async () => {
    const address = await deploy('0 0 1 1 *', { n: '{{counter}}' });
    let isFirst = true;
    fake.hooks.execute = async () => {
      if (!isFirst) return 'succeeds' as const;
      isFirst = false;
      // Two occurrences fire, and the definition changes, after the run was made.
      const [scheduler] = house.schedulers;
      await scheduler?.db
        .updateTable('schedules')
        .set({ counter: 2 })
        .where('deployment', '=', address)
        .execute();
      throw new ServiceError('binding_changed');
    };
    expect((await run(address)).data).toMatchObject({ counter: 3, outcome: 'succeeded' });
    expect(ranIn(address)[0]?.input).toEqual({ n: 3 });
  });

  it('runs the version that is bound now', async () => {
    const address = await deploy('0 0 1 1 *');
    fake.bind(address, 'train', fake.version('train', 2, { schedule: '0 0 1 1 *' }));
    expect((await run(address)).data).toMatchObject({ eventVersion: 2, outcome: 'succeeded' });
  });
});

describe('access', () => {
  it('readers of a public deployment see schedules and occurrences, and change nothing', async () => {
    const address = await deploy();
    const code = async (promise: Promise<unknown>) => (await refusalOf(promise)).code;
    expect(await code(schedulesOf(address, 2))).toBe('deployment_not_found');
    expect(await code(act('pause', address, 2))).toBe('deployment_not_found');
    fake.publish(address);
    expect(await schedulesOf(address, 2)).toHaveLength(1);
    const sent = { params: paramsOf(address, 'train'), query: {} };
    expect((await call('occurrences.list', sent, 2)).data).toEqual([]);
    for (const asked of [act('pause', address, 2), act('resume', address, 2), run(address, {}, 2)])
      expect(await code(asked)).toBe('forbidden');
  });

  it('they are told why the input could not be made, and nothing of its template', async () => {
    const placeholder = '{{ cronState.result.sesame }}';
    const address = await deploy('0 0 1 1 *', { n: placeholder });
    fake.publish(address);
    await run(address);
    const sent = { params: paramsOf(address, 'train'), query: {} };
    const shownTo = async (accountId: number) =>
      JSON.stringify([
        await schedulesOf(address, accountId),
        (await call('occurrences.list', sent, accountId)).data,
      ]);
    expect(await shownTo(1)).toContain('cronState.result.sesame');
    expect(await shownTo(2)).toContain('template_failed');
    expect(await shownTo(2)).not.toContain('sesame');
  });

  it('an event without a schedule has none', async () => {
    const address = fake.deploy({ race: fake.version('race', 1, null) });
    for (const event of ['race', 'absent']) {
      const sent = { params: paramsOf(address, event) };
      for (const name of ['schedules.pause', 'schedules.run', 'occurrences.list'] as const)
        expect((await refusalOf(call(name, sent))).code).toBe('schedule_not_found');
    }
  });

  it('all who ask at the same time get an answer, also when one of them goes away', async () => {
    const address = await deploy();
    fake.unbind(address, 'train');
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const begun = new Promise<void>((resolve) => {
      fake.hooks.read = () => {
        resolve();
        return gate;
      };
    });
    const [scheduler] = house.schedulers;
    const leaving = new AbortController();
    const left = scheduler?.syncs.now(address, leaving.signal);
    await begun;
    let answers: unknown;
    const others = Promise.all(Array.from({ length: 5 }, () => schedulesOf(address))).then((all) => {
      answers = all;
    });
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    go();
    // Who waits looks again every 50 ms.
    await vi.waitFor(async () => {
      await house.clock.advance(50);
      expect(answers).toEqual(Array.from({ length: 5 }, () => []));
    });
    await others;
    fake.hooks.read = () => undefined;
  });

  it('waits for a look at the deployment that has begun before, and then looks itself', async () => {
    const address = await deploy();
    const steps = new EventEmitter();
    const begun = once(steps, 'begun');
    const free = once(steps, 'free');
    fake.hooks.read = async () => {
      fake.hooks.read = () => undefined;
      steps.emit('begun');
      await free;
    };
    fake.bind(address, 'train', fake.version('train', 2, { schedule: '0 * * * *' }));
    const [scheduler] = house.schedulers;
    await scheduler?.syncs.want([address]);
    await begun;
    const listed = schedulesOf(address);
    const pending = () => scheduler?.db.selectFrom('pending_syncs').select('wanted').execute();
    await vi.waitFor(async () => expect((await pending())?.[0]?.wanted).toBe(2));
    steps.emit('free');
    expect(await listed).toMatchObject([{ eventVersion: 2 }]);
  });

  it('answers that it cannot tell while the runtime does not answer', async () => {
    const address = await deploy();
    fake.unbind(address, 'train');
    fake.hooks.read = () => {
      throw new ServiceError('unavailable');
    };
    expect((await refusalOf(schedulesOf(address))).code).toBe('unavailable');
    fake.hooks.read = () => undefined;
  });
});

it('the list is paged', async () => {
  const events = ['a', 'b', 'c', 'd', 'e'];
  const versions = events.map((event) => [event, fake.version(event, 1, { schedule: '0 0 1 1 *' })] as const);
  const address = fake.deploy({ ...Object.fromEntries(versions), race: fake.version('race', 1, null) });
  await hint(address);
  const page = (query: object) => call('schedules.list', { params: paramsOf(address), query });
  const { data, pagination } = await page({ limit: 2, page: 2 });
  expect(data.map(({ event }) => event)).toEqual(['c', 'd']);
  expect(pagination).toEqual({ page: 2, limit: 2, total: 5, totalPages: 3 });
  const [scheduler] = house.schedulers;
  const stored = scheduler && (await listSchedules(scheduler.db, address, { page: 3, limit: 2 }));
  expect(stored?.rows.flatMap((row) => Object.keys(row))).not.toContain('input');
  expect(stored).toMatchObject({ rows: [{ event: 'e' }], total: 5 });
});

it('the ledger is kept for 30 days, its last occurrence and a pause that lasts for longer', async () => {
  const address = await deploy('*/20 * * * *');
  const hour = Math.ceil(house.now() / HOUR) * HOUR;
  for (const minute of [0, 20, 40]) await moveTo(hour + minute * MINUTE);
  await act('pause', address);
  const kept = async () => {
    for (const { pruning } of house.schedulers) while ((await pruning.runOnce()) === 'more');
    return (await ledgerOf(address, 'train'))
      .map(({ status, dueAt }) => [status, (Date.parse(dueAt) - hour) / MINUTE] as const)
      .filter(([, minute]) => minute >= 0);
  };
  const [first, second, third, pause] = [
    ['fired', 0],
    ['fired', 20],
    ['fired', 40],
    ['paused', 40],
  ];
  await moveTo(hour + 30 * DAY);
  expect(await kept()).toEqual([first, second, third, pause]);
  await moveTo(hour + 30 * DAY + 21 * MINUTE);
  expect(await kept()).toEqual([third, pause]);
  await moveTo(hour + 31 * DAY);
  expect(await kept()).toEqual([third, pause]);
});

it('of a deployment that was deleted nothing is kept once its ledger is old', async () => {
  const address = await deploy('*/20 * * * *');
  const bound = fake.deploy({ train: fake.version('train', 1, null) });
  await hint(bound);
  await moveTo(Math.ceil(house.now() / HOUR) * HOUR);
  const [scheduler] = house.schedulers;
  const kept = async () => {
    for (const { pruning } of house.schedulers) while ((await pruning.runOnce()) === 'more');
    const rows = scheduler?.db.selectFrom('schedules').select('deployment');
    return rows?.where('deployment', 'in', [address, bound]).orderBy('id').execute();
  };
  fake.remove(address);
  await hint(address);
  expect(await kept()).toEqual([{ deployment: address }, { deployment: bound }]);
  await moveTo(house.now() + 31 * DAY);
  expect(await kept()).toEqual([{ deployment: bound }]);
});

it('the ledger is paged, newest first', async () => {
  const address = await deploy();
  await pass(5);
  const page = (query: object) => call('occurrences.list', { params: paramsOf(address, 'train'), query });
  const { data, pagination } = await page({ limit: 2, page: 2 });
  expect(data.map(({ counter }) => counter)).toEqual([3, 2]);
  expect(pagination).toEqual({ page: 2, limit: 2, total: 5, totalPages: 3 });
  expect((await page({ status: 'missed' })).pagination.total).toBe(0);
});
