import { canonicalHash, type FollowUp, type JsonObject, ServiceError } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { type Clock, createLogger, systemClock } from '@orrery/service-kit';
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDeciderDouble } from './decider-double.js';
import { codeOf, type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
const decider = createDeciderDouble();
let database: Database<unknown>;
const query = async <Row>(sql: string, values: unknown[] = []) =>
  (await database.pool.query(sql, values)).rows as Row[];

const running: AsyncDisposable[] = [];
const boot = async (...[options]: Parameters<House['boot']>) => {
  const runtime = await house.boot({ decider: decider.decider, ...options });
  running.push(runtime);
  return runtime;
};

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  database = house.resources.use(
    'looking on',
    await connect({ url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger }),
  );
});
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
  decider.clear();
});

let versions = 100;

/** Plants a version that sets `last` of the counter "log" to its input's `name`, and has these follow-ups. */
function plantEvent(event: string, followUps: FollowUp[], rest: object = {}): void {
  versions += 1;
  house.catalog.plantVersion({
    event,
    versionId: versions,
    isLocked: true,
    stateChanges: { counter: 'partial' },
    readEntities: [{ schema: 'counter' }],
    mutationSettings: {
      mode: 'direct',
      template: {
        stateChanges: { 'counter:log': { count: { $increment: 1 } } },
        result: { name: '{{ has(input.name) ? input.name : "" }}' },
      },
    },
    ...(followUps.length > 0 && { followUps }),
    ...rest,
  });
}

async function plant(events: Record<string, FollowUp[]>, rest: Record<string, object> = {}) {
  const names = Object.keys(events).map((event) => `${event}-${versions}`);
  const renamed = new Map(Object.keys(events).map((event, at) => [event, names[at] ?? '']));
  const refer = (followUps: FollowUp[]) =>
    followUps.map((one) =>
      'event' in one && one.event ? { ...one, event: renamed.get(one.event) ?? one.event } : one,
    );
  for (const [event, followUps] of Object.entries(events))
    plantEvent(renamed.get(event) ?? '', refer(followUps), rest[event]);
  const bindings = names.map((event) => ({ event, eventVersion: 1 }));
  const planted = await plantDeployment(house, { bindings });
  const id = planted.deployment.id;
  return {
    ...planted,
    id,
    nameOf: (event: string) => renamed.get(event) ?? event,
    run: (event: string, input: JsonObject = {}, more: object = {}) =>
      house.call('deployments.execute', {
        params: planted.params,
        body: { event: renamed.get(event), input, ...more },
      }),
    /** Events and outcomes of the executions, the oldest first. */
    told: async () => {
      const entries = await query<{
        event: string;
        trigger: string;
        status: string;
        error: { code: string } | null;
      }>(
        `select event, trigger, status, error from journal where deployment_id = $1 and kind = 'execution' order by seq`,
        [id],
      );
      return entries.map(
        ({ event, trigger, status, error }) => `${event.split('-')[0]} ${trigger} ${error?.code ?? status}`,
      );
    },
    timers: async () => (await house.call('timers.list', { params: planted.params })).data,
    due: () => query('update timers set due_at = now() where deployment_id = $1', [id]),
    /** So many seconds from now; answers when. */
    makeDue: async (seconds = 0) => {
      const [due] = await query<{ at: Date }>(
        `update timers set due_at = clock_timestamp() + make_interval(secs => $2) where deployment_id = $1
        returning due_at as at`,
        [id, seconds],
      );
      await query(`update timer_heads set next_due = $2 where deployment_id = $1`, [id, due?.at]);
      return due?.at;
    },
    heads: () =>
      query<{ next_due: Date | null }>('select next_due from timer_heads where deployment_id = $1', [id]),
  };
}

describe('a follow-up without delay', () => {
  it('is the next item of the lane, before what was waiting', async () => {
    await boot();
    const { run, told } = await plant({
      first: [{ event: 'second' }, { event: 'third' }],
      second: [{ event: 'fourth' }],
      third: [],
      fourth: [],
      other: [],
    });
    await Promise.all([run('first'), ...Array.from({ length: 5 }, () => run('other'))]);
    await vi.waitFor(async () => expect(await told()).toHaveLength(9));
    const order = await told();
    const at = order.indexOf('first admin succeeded');
    expect(order.slice(at + 1, at + 4)).toEqual([
      'second timer succeeded',
      'third timer succeeded',
      'fourth timer succeeded',
    ]);
  });

  it('ends in a failed entry where it never ends by itself', async () => {
    await boot();
    const { run, told, timers, verify, id } = await plant({ loop: [{ event: 'loop' }] });
    await run('loop');
    await vi.waitFor(async () => expect((await told()).at(-1)).toBe('loop timer follow_up_too_deep'));
    const all = await told();
    expect(all).toHaveLength(257);
    expect(all.filter((one) => one.endsWith('succeeded'))).toHaveLength(256);
    expect(await timers()).toEqual([]);
    expect(await verify()).toMatchObject({ valid: true });
    const [head] = await query<{ totals: object }>(
      'select totals from journal_heads where deployment_id = $1',
      [id],
    );
    expect(Object.keys(head?.totals ?? {}).filter((name) => /tree|timers/.test(name))).toEqual([]);
  });

  it('has no more executions where several are set at once', async () => {
    await boot();
    const { run, told } = await plant({ bush: [{ event: 'bush' }, { event: 'bush' }, { event: 'bush' }] });
    await run('bush');
    await vi.waitFor(async () => expect((await told()).length).toBeGreaterThan(250));
    await vi.waitFor(async () => {
      const pending = await query('select from timers');
      expect(pending).toHaveLength(0);
    });
    expect((await told()).length).toBeLessThanOrEqual(257);
    expect((await told()).some((one) => one.endsWith('follow_up_too_deep'))).toBe(true);
  });
});

describe('a follow-up without delay that creates the first instance of a schema', () => {
  const NOTHING = { mutationSettings: { mode: 'direct', template: { stateChanges: {}, result: {} } } };
  const EVENTS = { first: [{ event: 'creates' }], creates: [], other: [] };
  const plantCreating = () => plant(EVENTS, { first: NOTHING, other: NOTHING });

  it('does not wait for a change of bindings that is decided after it', async () => {
    await boot();
    const { run, told, params } = await plantCreating();
    plantEvent(`added-${versions}`, []);
    house.catalog.onNextClaim(() => run('first'));
    const body = [{ event: `added-${versions - 1}`, eventVersion: 1 }];
    expect((await house.call('bindings.add', { params, body })).data).toHaveLength(1);
    await vi.waitFor(async () =>
      expect(await told()).toEqual(['first admin succeeded', 'creates timer succeeded']),
    );
  });

  it('keeps nothing waiting while the catalog is away', async () => {
    await boot();
    const { run, told } = await plantCreating();
    const { hooks } = house.catalog;
    onTestFinished(() => {
      hooks.beforeSchemaClaim = undefined;
    });
    hooks.beforeSchemaClaim = () => Promise.reject(new ServiceError('unavailable'));
    await run('first');
    await run('other');
    expect(await told()).toEqual(['first admin succeeded', 'other admin succeeded']);
    hooks.beforeSchemaClaim = undefined;
    await vi.waitFor(async () => expect((await told()).at(-1)).toBe('creates timer succeeded'));
  });
});

describe('a timer', () => {
  it('is executed when it is due, once, and not before', async () => {
    await boot();
    const { run, told, timers, heads, history, verify, makeDue } = await plant({
      first: [{ event: 'later', after: 'PT1H', input: { name: 'x' } }],
      later: [],
    });
    await run('first');
    const [timer] = await timers();
    expect(timer).toMatchObject({
      input: { name: 'x' },
      key: null,
      depth: 1,
      cause: { index: 0 },
      executionId: null,
    });
    const due = await makeDue(1);
    await vi.waitFor(async () => expect(await told()).toHaveLength(2));
    expect(await told()).toEqual(['first admin succeeded', 'later timer succeeded']);
    const [entry] = await query<{ executed_at: Date }>(
      `select executed_at from journal where trigger = 'timer' order by executed_at desc limit 1`,
    );
    expect(entry?.executed_at.getTime()).toBeGreaterThanOrEqual(due?.getTime() ?? Number.NaN);
    expect(await timers()).toEqual([]);
    expect(await heads()).toEqual([{ next_due: null }]);
    const [executed, first] = await history();
    const inputHash = canonicalHash({ name: 'x' });
    const { timerId: id, event, dueAt } = timer ?? {};
    expect(first?.timers).toEqual([{ id, event, dueAt, key: null, inputHash }]);
    expect(first).not.toHaveProperty('cause');
    expect(executed).toMatchObject({ cause: { seq: first?.seq, index: 0 }, depth: 1, input: { name: 'x' } });
    expect(executed?.caller).toBe(first?.caller);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('is replaced by one with its key, and cancelled by its key', async () => {
    await boot();
    const { run, timers, told } = await plant({
      set: [{ event: 'late', after: 'PT1H', key: 'k', input: { name: '{{ input.name }}' } }],
      stop: [{ cancel: 'k' }],
      late: [],
    });
    await run('set', { name: 'one' });
    await run('set', { name: 'two' });
    expect((await timers()).map(({ input }) => input)).toEqual([{ name: 'two' }]);
    await run('stop');
    expect(await timers()).toEqual([]);
    await run('stop');
    await run('set', { name: 'three' });
    expect((await timers()).map(({ input, key }) => [input, key])).toEqual([[{ name: 'three' }, 'k']]);
    expect(await told()).toHaveLength(5);
  });

  it('is set by a request, listed and cancelled', async () => {
    await boot();
    const { run, timers, params, history, nameOf } = await plant(
      { late: [] },
      { late: { inputSchema: { name: 'string' } } },
    );
    const { data } = await run('late', { name: 'x' }, { after: 'PT1H', key: 'k' });
    const [timer] = await timers();
    expect(data).toMatchObject({
      timerId: timer?.timerId,
      event: nameOf('late'),
      dueAt: timer?.dueAt,
      key: 'k',
    });
    expect(await codeOf(run('late', { wrong: 1 }, { after: 'PT1H' }))).toBe('invalid_input');
    expect(await codeOf(run('late', { name: 'x' }, { after: 'PT1H', at: '2040-01-01T00:00:00Z' }))).toBe(
      'conflicting_fields',
    );
    expect(await codeOf(run('late', { name: 'x' }, { key: 'k' }))).toBe('validation_failed');
    const cancel = () => house.call('timers.cancel', { params: { ...params, timerId: timer?.timerId } });
    expect((await cancel()).data).toEqual({ deleted: true });
    expect(await codeOf(cancel())).toBe('timer_not_found');
    expect(await timers()).toEqual([]);
    const kinds = (await history({ include: 'all' })).map(({ kind }) => kind);
    expect(kinds.slice(0, 2)).toEqual(['timer_cancelled', 'timer_set']);
  });

  it('waits while the deployment is paused, and is executed after that', async () => {
    await boot();
    const { run, told, params, timers, makeDue } = await plant({
      first: [{ event: 'late', after: 'PT1H' }, { event: 'next' }],
      late: [],
      next: [],
    });
    await run('first');
    await house.call('deployments.pause', { params });
    const before = await told();
    await makeDue();
    await vi.waitFor(async () => {
      const [head] = await query<{ later: boolean }>(
        `select next_due > now() + interval '30 seconds' as later from timer_heads h join deployments d on d.id = h.deployment_id where d.address = $1`,
        [params.address],
      );
      expect(head?.later).toBe(true);
    });
    expect(await told()).toEqual(before);
    expect((await timers()).length).toBeGreaterThan(0);
    await house.call('deployments.resume', { params });
    await vi.waitFor(async () => expect(await told()).toHaveLength(3));
    expect(await timers()).toEqual([]);
  });

  it('leaves a failed entry where its event is not bound when it is due', async () => {
    await boot();
    const { run, told, params, nameOf, makeDue } = await plant({
      first: [
        { event: 'late', after: 'PT1H' },
        { event: 'never', after: 'PT1H' },
      ],
      late: [],
    });
    await run('first');
    await house.call('bindings.remove', { params, query: { event: nameOf('late') } });
    await makeDue();
    await vi.waitFor(async () => expect(await told()).toHaveLength(3));
    expect((await told()).slice(1).sort()).toEqual([
      'late timer event_not_bound',
      'never timer event_not_bound',
    ]);
  });

  it('runs what is bound when it is due', async () => {
    await boot();
    const { run, params, nameOf, timers, history, makeDue } = await plant({
      first: [{ event: 'late', after: 'PT1H' }],
      late: [],
    });
    await run('first');
    versions += 1;
    house.catalog.plantVersion({
      event: nameOf('late'),
      version: 2,
      versionId: versions,
      mutationSettings: { mode: 'direct', template: { stateChanges: {}, result: { second: true } } },
    });
    await house.call('bindings.update', { params, body: [{ event: nameOf('late'), eventVersion: 2 }] });
    expect(await timers()).toHaveLength(1);
    await makeDue();

    await vi.waitFor(async () => expect((await history())[0]).toMatchObject({ eventVersion: 2 }));
  });

  it('is cancelled with its deployment', async () => {
    await boot();
    const { run, params, id } = await plant({ first: [{ event: 'late', after: 'PT1H' }], late: [] });
    await run('first');
    await house.call('deployments.delete', { params });
    expect(await query('select from timers where deployment_id = $1', [id])).toEqual([]);
    expect(
      await query('select from timer_heads where deployment_id = $1 and next_due is not null', [id]),
    ).toEqual([]);
  });

  it('may be pending 10,000 times; an execution that would set the next one fails', async () => {
    await boot();
    const { run, told, id } = await plant({ first: [{ event: 'late', after: 'PT1H' }], late: [] });
    await run('first');
    await query(`update journal_heads set totals = totals || '{"timers": 10000}' where deployment_id = $1`, [
      id,
    ]);
    for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
    await boot();
    expect(await codeOf(run('first'))).toBe('too_many_timers');
    expect(await codeOf(run('late', {}, { after: 'PT1H' }))).toBe('too_many_timers');
    expect((await told()).at(-1)).toBe('first admin too_many_timers');
  });
});

describe('a clone', () => {
  it('takes no timers, or a copy of those that are pending, which run by themselves', async () => {
    await boot();
    const { run, timers, deployment, params, makeDue } = await plant({
      first: [{ event: 'late', after: 'PT1H', key: 'k' }],
      late: [],
    });
    await run('first');
    const clone = async (more: object) => {
      const body = { name: 'copy', bindings: [], sourceDeployment: deployment.address, ...more };
      const { data } = await house.call('deployments.create', {
        params: { worldAddress: params.worldAddress },
        body,
      });
      return { ...params, address: data.address };
    };
    const timersOf = async (of: object) => (await house.call('timers.list', { params: { ...of } })).data;
    expect(await timersOf(await clone({}))).toEqual([]);
    expect(await codeOf(clone({ sourceTimers: true, sourceSeq: 2 }))).toBe('validation_failed');
    const copy = await clone({ sourceTimers: true });
    const [original] = await timers();
    const { timerId: _, cause: _cause, ...same } = original ?? {};
    expect(await timersOf(copy)).toMatchObject([{ ...same, cause: { seq: 1, index: 0 } }]);
    await makeDue();
    await vi.waitFor(async () => expect(await timers()).toEqual([]));
    expect(await timersOf(copy)).toHaveLength(1);
    // More than are read at once.
    await Promise.all(
      Array.from({ length: 205 }, (_, n) => run('late', { name: `${n}` }, { after: `PT${1 + (n % 7)}H` })),
    );
    const many = await clone({ sourceTimers: true });
    const rows = (of: string) =>
      query(
        `select input, due_at, key from timers t join deployments d on d.id = t.deployment_id where d.address = $1
        order by t.due_at, t.set_seq, t.set_index`,
        [of],
      );
    expect(await rows(many.address)).toEqual(await rows(params.address));
    expect(
      await query(
        `select count(*)::int as count, min(set_index), max(set_index), count(distinct set_index)::int as places
        from timers t join deployments d on d.id = t.deployment_id where d.address = $1`,
        [many.address],
      ),
    ).toEqual([{ count: 205, min: 0, max: 204, places: 205 }]);
  });
});

describe('an owner that goes', () => {
  it('after an answer that was lost leaves each timer executed once', async () => {
    let losing = false;
    let lost = 0;
    await boot({
      aroundCommit: (commit) => async (batch) => {
        const outcome = await commit(batch);
        if (losing && batch.timers.size > 0 && lost < 3) {
          lost += 1;
          throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
        }
        return outcome;
      },
    });
    const { run, told, timers, counter, verify } = await plant({
      first: [{ event: 'late', after: 'PT1S' }, { event: 'next' }],
      late: [{ event: 'last' }],
      next: [],
      last: [],
    });
    losing = true;
    await run('first');
    await vi.waitFor(async () => expect(await told()).toHaveLength(4));
    expect(lost).toBe(3);
    expect(await timers()).toEqual([]);
    expect((await counter('log')).state).toEqual({ count: 4 });
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('hands over what is pending: the next owner finds it, those without delay first', async () => {
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => undefined);
    let isStopped = false;
    // Its commits of follow-ups never end, as those of a process that is killed.
    const first = await boot({
      leaseTtlMs: 600_000,
      aroundCommit: (commit) => (batch) => {
        const follows = batch.entries.some(({ entry }) => entry.trigger === 'timer');
        if (follows) isStopped = true;
        return isStopped ? stopped.promise : commit(batch);
      },
    });
    const { run, told, timers } = await plant({
      first: [{ event: 'next' }, { event: 'late', after: 'PT1S' }],
      next: [],
      late: [],
      other: [],
    });
    await run('first');
    await vi.waitFor(() => expect(isStopped).toBe(true));
    expect(await timers()).toHaveLength(2);
    running.splice(running.indexOf(first), 1);
    await query('delete from members where instance = $1', [first.instance]);
    await query('update partitions set owner = null, expires_at = null');
    await boot();
    // Where the first one gets it, it waits for that one's end.
    const other = run('other').catch(() => undefined);
    await vi.waitFor(async () => expect(await timers()).toEqual([]));
    const all = await told();
    expect(all.slice(0, 2)).toEqual(['first admin succeeded', 'next timer succeeded']);
    expect(all.filter((one) => one.startsWith('late'))).toHaveLength(1);
    stopped.reject(new Error('killed'));
    await first[Symbol.asyncDispose]();
    await other;
  });
});

describe('a timer of an event that a model decides', () => {
  const judge = {
    judge: {
      behaviorPrompt: 'Judge.',
      mutationSettings: null,
      stateChanges: { counter: 'partial' },
      readEntities: [{ schema: 'counter' }],
    },
  };

  it('becomes a run, and its follow-ups belong to the tree', async () => {
    await boot();
    const { run, told, timers, createCounter } = await plant(
      { first: [{ event: 'judge' }], judge: [{ event: 'last' }], last: [] },
      judge,
    );
    await createCounter('a');
    await run('first');
    const { answer } = await decider.called();
    expect((await timers()).map(({ executionId }) => typeof executionId)).toEqual(['string']);
    answer({ stateChanges: { 'counter:a': { count: 3 } }, result: {} });
    await vi.waitFor(async () => expect(await told()).toHaveLength(3));
    expect(await told()).toEqual(['first admin succeeded', 'judge timer succeeded', 'last timer succeeded']);
    expect(await timers()).toEqual([]);
  });

  it('is pending again where the deployment is paused meanwhile', async () => {
    await boot();
    const { run, told, timers, params, createCounter } = await plant(
      { first: [{ event: 'judge' }], judge: [] },
      judge,
    );
    await createCounter('a');
    await run('first');
    const { answer } = await decider.called();
    await house.call('deployments.pause', { params });
    answer({ stateChanges: {}, result: {} });
    await vi.waitFor(async () =>
      expect((await timers()).map(({ executionId }) => executionId)).toEqual([null]),
    );
    expect(await told()).toHaveLength(1);
    await house.call('deployments.resume', { params });
    const again = await decider.called();
    again.answer({ stateChanges: {}, result: {} });
    await vi.waitFor(async () => expect(await told()).toHaveLength(2));
  });
});

describe('timers that wait', () => {
  const TOUCH = {
    mutationSettings: {
      mode: 'direct',
      template: { stateChanges: { 'counter:a': { count: { $increment: 1 } } }, result: {} },
    },
  };
  const JUDGE = {
    behaviorPrompt: 'Judge.',
    mutationSettings: null,
    stateChanges: { counter: 'partial' },
    readEntities: [{ schema: 'counter', filter: ['name'] }],
  };
  /** A deployment with a run that holds `counter:a`, and with timers that change it, all due. */
  async function plantHeld(count: number) {
    const events = { touch: [], judge: [], free: [], first: [{ event: 'free' }] };
    const planted = await plant(events, { touch: TOUCH, judge: JUDGE });
    await planted.createCounter('a');
    const judged = planted.run('judge', { name: 'a' });
    judged.catch(() => undefined);
    const { answer } = await decider.called();
    await planted.run('touch');
    answer({ stateChanges: { 'counter:a': { count: 3 } }, result: {} });
    const held = await decider.called();
    const end = async () => {
      held.answer({ stateChanges: { 'counter:a': { count: 9 } }, result: {} });
      await judged.catch(() => undefined);
    };
    onTestFinished(end);
    await Promise.all(Array.from({ length: count }, () => planted.run('touch', {}, { after: 'PT1H' })));
    await planted.run('free', {}, { after: 'PT2H' });
    await query(
      `update timers set due_at = now() - case event when $2 then '0 s'::interval else '1 s' end where deployment_id = $1`,
      [planted.id, planted.nameOf('free')],
    );
    await query('update timer_heads set next_due = now() where deployment_id = $1', [planted.id]);
    return {
      ...planted,
      end,
      timed: async () => (await planted.told()).filter((one) => one.includes(' timer ')),
    };
  }
  /** Those that wait for a run give up after a minute; by this clock later than a test ends. */
  const patientClock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(ms > 50_000 ? 10 * ms : ms, signal),
  };

  it('for a run keep neither those behind them nor other deployments waiting', async () => {
    await boot({ clock: patientClock });
    const held = await plantHeld(120);
    await vi.waitFor(async () => expect(await held.timed()).toEqual(['free timer succeeded']));
    const other = await plant({ first: [{ event: 'next' }], next: [] });
    await other.run('first');
    await vi.waitFor(async () =>
      expect(await other.told()).toEqual(['first admin succeeded', 'next timer succeeded']),
    );
    expect(await held.timed()).toHaveLength(1);
    await held.end();
    await vi.waitFor(async () => expect(await held.timed()).toHaveLength(121));
    expect(await held.timers()).toEqual([]);
  });

  it('for a run are 200 of a deployment', async () => {
    await boot({ clock: patientClock });
    const held = await plantHeld(260);
    const other = await plant({ late: [] });
    // A page of timers is read in a second while others wait.
    for (let time = 1; time <= 6; time += 1) {
      await other.run('late', {}, { after: 'PT1S' });
      await vi.waitFor(async () => expect(await other.told()).toHaveLength(time));
    }
    expect(await held.timed()).toEqual([]);
    await held.end();
    await vi.waitFor(async () => expect(await held.timed()).toHaveLength(261));
  });

  it('for runs in many deployments do not keep others from being looked for', async () => {
    await boot({ clock: patientClock });
    const many: Awaited<ReturnType<typeof plantHeld>>[] = [];
    for (let count = 0; count < 33; count += 1) many.push(await plantHeld(1));
    for (const one of many)
      await vi.waitFor(async () => expect(await one.timed()).toEqual(['free timer succeeded']));
    const other = await plant({ late: [] });
    await other.run('late', {}, { after: 'PT1S' });
    await vi.waitFor(async () => expect(await other.told()).toEqual(['late timer succeeded']));
    await Promise.all(many.map(({ end }) => end()));
  });

  it('behind a follow-up of their deployment leave it room', async () => {
    await boot({ clock: patientClock });
    const { run, told, makeDue } = await plant({ first: [{ event: 'next' }], next: [] });
    await Promise.all(Array.from({ length: 150 }, () => run('first', {}, { after: 'PT1H' })));
    await makeDue();
    await vi.waitFor(async () => expect(await told()).toHaveLength(300));
    const all = await told();
    expect(all.filter((_, at) => at % 2 === 1)).toEqual(Array(150).fill('next timer succeeded'));
  });
});
