import { beforeAll, describe, expect, it } from 'vitest';
import { inShort, MINUTE, prepareHouse, refusalOf } from './running-scheduler.js';

const house = await prepareHouse();
const { fake, hint, pass, schedulesOf, ledgerOf, announce, moveTo } = house;
beforeAll(() => house.boot());

/** The default of SCHEDULE_DRAFTS_MS. */
const DRAFTS_MS = 600_000;
const everyMinute = { schedule: '* * * * *' };
const hourly = { schedule: '0 * * * *', timezone: 'Asia/Kathmandu' };
const at = (offset: number) => new Date(house.now() + offset).toISOString();

describe('schedules follow bindings', () => {
  it('a bound cron version has a schedule from then on, and no other version has', async () => {
    await moveTo(house.now() + 1000);
    const [cron, admin] = [fake.version('train', 1, everyMinute), fake.version('race', 1, null)];
    const address = fake.deploy({ train: cron, race: admin });
    await hint(address);
    expect(await schedulesOf(address)).toEqual([
      {
        event: 'train',
        eventVersion: 1,
        schedule: '* * * * *',
        timezone: 'UTC',
        status: 'active',
        pausedBy: [],
        nextAt: at(59_000),
        lastOccurrence: null,
        counter: 0,
        consecutiveFailures: 0,
        lastError: null,
      },
    ]);
  });

  it('a version of another event that has the id of the bound one has no schedule there', async () => {
    const address = fake.deploy({ train: fake.version('race', 1, everyMinute) });
    expect(await schedulesOf(address)).toEqual([]);
  });

  it('is followed before it is answered, although nobody told of it', async () => {
    const address = fake.deploy({ train: fake.version('train', 1, hourly) });
    const [schedule] = await schedulesOf(address);
    expect(schedule).toMatchObject({ timezone: 'Asia/Kathmandu', nextAt: '2030-06-02T12:15:00.000Z' });
    fake.unbind(address, 'train');
    expect(await schedulesOf(address)).toEqual([]);
  });

  it('a draft that changes changes its schedule, and so does its visibility', async () => {
    const version = fake.version('train', 1, everyMinute);
    const address = fake.deploy({ train: version });
    await hint(address);
    fake.edit(version, hourly);
    await announce('train');
    await house.until(async () => {
      const { schedules } = await rows(address);
      expect(schedules).toEqual(['0 * * * *']);
    });
    fake.edit(version, null);
    expect(await schedulesOf(address)).toEqual([]);
    fake.edit(version, everyMinute);
    expect((await schedulesOf(address))[0]).toMatchObject({ schedule: '* * * * *' });
  });

  it('no definition is read again that has not changed', async () => {
    const input = { lap: '{{ counter }}' };
    const version = fake.version('train', 1, { ...hourly, input } as never);
    const locked = fake.version('race', 1, { schedule: '30 12 * * *' }, true);
    const address = fake.deploy({ train: version, race: locked, idle: fake.version('idle', 1, null) });
    await hint(address);
    const stored = () =>
      house.schedulers[0]?.db
        .selectFrom('schedules')
        .selectAll()
        .where('deployment', '=', address)
        .orderBy('id')
        .execute();
    const before = await stored();
    fake.sent.splice(0);
    fake.publish(address);
    await hint(address);
    expect(await stored()).toEqual(before);
    expect(fake.sent).toEqual([]);
    fake.edit(version, everyMinute);
    fake.bind(address, 'race', fake.version('race', 2, hourly));
    await hint(address);
    expect(fake.sent.filter((one) => one === version)).toHaveLength(1);
    expect((await rows(address)).schedules).toEqual(['0 * * * *', '* * * * *']);
    expect((await stored())?.find(({ event }) => event === 'train')?.input).toBeNull();
  });

  it('a draft that one of its deployments has followed and another has not is found by comparing', async () => {
    const version = fake.version('train', 1, everyMinute);
    const [first, second] = [fake.deploy({ train: version }), fake.deploy({ train: version })];
    await hint(first, second);
    fake.edit(version, hourly);
    await hint(first);
    // Of two states neither is the newer one by its hash.
    await house.schedulers[0]?.db
      .updateTable('schedules')
      .set({ definition_hash: '0' })
      .where('deployment', '=', second)
      .execute();
    await house.until(async () => {
      await house.clock.advance(DRAFTS_MS);
      expect((await rows(second)).schedules).toEqual(['0 * * * *']);
    });
  });

  it('rebinding goes on with the counter, and the old version no longer runs', async () => {
    const [first, second] = [fake.version('train', 1, everyMinute), fake.version('train', 2, everyMinute)];
    const address = fake.deploy({ train: first });
    await hint(address);
    await pass(2);
    fake.bind(address, 'train', second);
    await pass(2);
    const ran = fake.executed.filter(({ deployment }) => deployment === address);
    expect(ran.map(({ eventVersion }) => eventVersion)).toEqual([1, 1, 2]);
    // The first due time after the rebinding was made for the old version, which the runtime refused.
    expect(
      (await ledgerOf(address, 'train')).map(({ status, reason, counter }) => [status, reason, counter]),
    ).toEqual([
      ['fired', null, 1],
      ['fired', null, 2],
      ['skipped', 'binding_changed', 3],
      ['fired', null, 3],
    ]);
    expect((await schedulesOf(address))[0]).toMatchObject({ eventVersion: 2, counter: 3 });
  });

  it('an unbound schedule leaves the list and its occurrences stay readable; bound again it goes on counting', async () => {
    const version = fake.version('train', 1, everyMinute);
    const address = fake.deploy({ train: version });
    await hint(address);
    await pass(1);
    fake.unbind(address, 'train');
    await hint(address);
    await pass(2);
    expect(await schedulesOf(address)).toEqual([]);
    expect((await ledgerOf(address, 'train')).length).toBe(1);
    fake.bind(address, 'train', version);
    await hint(address);
    await pass(1);
    expect((await ledgerOf(address, 'train')).map(({ counter }) => counter)).toEqual([1, 2]);
  });

  it('a deleted deployment has none', async () => {
    const address = fake.deploy({ train: fake.version('train', 1, everyMinute) });
    await hint(address);
    fake.remove(address);
    await pass(2);
    expect(fake.executed.filter(({ deployment }) => deployment === address)).toEqual([]);
    expect((await refusalOf(schedulesOf(address))).code).toBe('deployment_not_found');
    expect((await rows(address)).due).toBe(0);
  });

  it('what the bus lost is found by comparing heads', async () => {
    const address = fake.deploy({ train: fake.version('train', 1, everyMinute) });
    await house.clock.advance(20_000);
    await house.until(async () => expect((await rows(address)).schedules).toEqual(['* * * * *']));
    fake.unbind(address, 'train');
    await house.clock.advance(20_000);
    await house.until(async () => expect((await rows(address)).due).toBe(0));
  });

  it('a deployment that the runtime does not know any more has no schedule, and is left alone', async () => {
    await moveTo(Math.ceil(house.now() / MINUTE) * MINUTE + 10_000);
    const address = fake.deploy({ train: fake.version('train', 1, everyMinute) });
    await hint(address);
    fake.forget(address);
    house.jump(MINUTE);
    await hint(address);
    const [scheduler] = house.schedulers;
    const left = await scheduler?.db
      .selectFrom('pending_syncs')
      .selectAll()
      .where('deployment', '=', address)
      .execute();
    expect(left).toEqual([]);
    expect((await rows(address)).due).toBe(0);
    const ledger = await scheduler?.db
      .selectFrom('occurrences')
      .innerJoin('schedules', 'schedules.id', 'schedule_id')
      .select(['status', 'reason'])
      .where('deployment', '=', address)
      .execute();
    expect(ledger).toHaveLength(1);
    expect(['unbound', 'deployment_deleted']).toContain(ledger?.[0]?.reason);
  });

  it.each([-3, 3])('happens when it did, by a clock that is wrong by %d minutes', async (minutes) => {
    const QUARTER = 15 * MINUTE;
    const quarterly = { schedule: '*/15 * * * *' };
    // The old version is not due in between: firing, which may run before the change is known, would decide it.
    await moveTo(Math.ceil(house.now() / QUARTER) * QUARTER + MINUTE);
    const [first, second] = [fake.version('train', 1, quarterly), fake.version('train', 2, everyMinute)];
    const address = fake.deploy({ train: first });
    await hint(address);
    fake.setAhead(minutes * MINUTE);
    house.jump(5 * MINUTE + 10_000);
    const boundAt = house.now();
    fake.bind(address, 'train', second);
    house.jump(5 * MINUTE);
    await hint(address);
    // The minutes since it was bound, of which the last one ran.
    await house.until(async () => {
      const ledger = await ledgerOf(address, 'train');
      const minutesSince = ledger.map(({ dueAt }) => Math.ceil((Date.parse(dueAt) - boundAt) / MINUTE));
      expect(minutesSince).toEqual([1, 2, 3, 4, 5]);
    });
    fake.setAhead(0);
  });

  it('a journal that lost its end is followed from what is there', async () => {
    const [first, second] = [fake.version('train', 1, everyMinute), fake.version('train', 2, hourly)];
    const address = fake.deploy({ train: first });
    fake.bind(address, 'train', second);
    await hint(address);
    expect((await schedulesOf(address))[0]).toMatchObject({ eventVersion: 2 });
    fake.bind(address, 'train', first);
    fake.loseTail(address, 2);
    expect((await schedulesOf(address))[0]).toMatchObject({ eventVersion: 1, schedule: '* * * * *' });
  });
});

describe('a pause of the deployment', () => {
  it('is one row of the ledger, and nothing is due in it', async () => {
    await moveTo(Math.ceil(house.now() / MINUTE) * MINUTE + 10_000);
    const address = fake.deploy({ train: fake.version('train', 1, everyMinute) });
    await hint(address);
    await pass(1);
    fake.pause(address);
    await hint(address);
    expect((await schedulesOf(address))[0]).toMatchObject({
      status: 'paused',
      pausedBy: ['deployment'],
      nextAt: null,
    });
    await pass(3);
    fake.pause(address, 'operator');
    fake.resume(address);
    await hint(address);
    await pass(2);
    fake.resume(address, 'operator');
    await hint(address);
    await pass(1);
    const ledger = await ledgerOf(address, 'train');
    expect(ledger.map(({ status, counter }) => [status, counter])).toEqual([
      ['fired', 1],
      ['paused', null],
      ['fired', 2],
    ]);
    expect(Date.parse(ledger[1]?.until ?? '') - Date.parse(ledger[1]?.dueAt ?? '')).toBe(5 * MINUTE);
  });

  it('that nobody told of skips the occurrence that meets it', async () => {
    const address = fake.deploy({ train: fake.version('train', 1, everyMinute) });
    await hint(address);
    fake.pause(address);
    await pass(1);
    await hint(address);
    await pass(1);
    expect((await ledgerOf(address, 'train')).map(inShort).map((row) => row.slice(6))).toEqual([
      'skipped deployment_paused',
      'paused deployment_paused',
    ]);
  });
});

/** What is stored of a deployment, without syncing it first. */
async function rows(address: string) {
  const [scheduler] = house.schedulers;
  const found = await scheduler?.db
    .selectFrom('schedules')
    .selectAll()
    .where('deployment', '=', address)
    .execute();
  return {
    schedules: found?.flatMap(({ schedule }) => schedule ?? []),
    due: found?.filter(({ next_at }) => next_at !== null).length,
  };
}
