import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { startAllInOne } from '@orrery/testing/system';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { type Evidence, type JournalRow, readEntries } from '../src/chaos/check/evidence.js';
import { findAll } from '../src/chaos/check/find-all.js';
import { wrongFollowUps } from '../src/chaos/check/follow-ups.js';
import { linesAbout, secretsIn } from '../src/chaos/check/logs.js';
import { untilEnded } from '../src/chaos/check/until-ended.js';
import { FAULTS } from '../src/chaos/faults/play-plan.js';
import { drawPlan, hitBy } from '../src/chaos/plan/draw-plan.js';
import { createRandom } from '../src/chaos/plan/random.js';
import { judge } from '../src/load/judge.js';
import { type Operation, OperationLog, type Outcome } from '../src/load/operation.js';
import { counterWorld, countRequest } from '../src/worlds/counter-world.js';
import { scheduledWorld } from '../src/worlds/scheduled-world.js';
import { PRICE, RECEIVER } from '../src/worlds/toasts.js';

/** What a quiet system has stored: twelve executions, a write by hand, and a schedule that has fired once. */
const template = { name: 'chaos_checker', prepare };
const EXECUTIONS = 12;
const TIMED = EXECUTIONS + 1;

async function prepare(url: string): Promise<void> {
  await using system = await startAllInOne(url);
  const api = apiClient(system.url, system.key);
  const deployment = await (await counterWorld(api)).deploy();
  for (let number = 1; number <= EXECUTIONS; number += 1)
    expect((await api.post(`${deployment}/execute`, countRequest(number))).status).toBe(200);
  // One timer is executed, another one stays where it is.
  await api.post(`${deployment}/execute`, { ...countRequest(TIMED), after: 'PT1S' });
  await vi.waitFor(async () => {
    const { body } = await api.get(`${deployment}/history?trigger=timer`);
    expect(body.data).toHaveLength(1);
  });
  await api.post(`${deployment}/execute`, {
    event: 'count',
    input: { operation: 0, counter: 'C' },
    after: 'P365D',
  });
  const written = { entitySchema: 'counter', instanceId: 'by hand', state: { value: TIMED + 1 } };
  expect((await api.post(`${deployment}/entity-instances`, written)).status).toBe(201);
  // Its due times lie far away: the ledger below is the only one.
  const lap = await (await scheduledWorld(api, '0 0 1 1 *')).deploy();
  // Listed, it is stored: the scheduler follows deployments in its own time.
  expect((await api.get(`${lap}/schedules`)).body.data).toHaveLength(1);
  const input = { lap: 1, due: '2026-01-01T00:00:00.000Z' };
  expect((await api.post(`${lap}/execute`, { event: 'lap', input })).status).toBe(200);
}

/** The ledger of a schedule that was due once, as if its execution had been the scheduler's. */
const FIRED = `
  update runtime.journal set trigger = 'cron' where event = 'lap';
  update scheduler.schedules set decided_until = '2026-01-01T00:00:00Z', counter = 1 where event = 'lap';
  insert into scheduler.occurrences
    (schedule_id, kind, due_at, status, outcome, history_id, seq, event_version, counter, started_at, ended_at)
  select s.id, 'due', '2026-01-01T00:00:00Z', 'fired', 'succeeded', j.id::text, j.seq, 1, 1, now(), now()
  from scheduler.schedules s, runtime.journal j where s.event = 'lap' and j.event = 'lap'`;

async function copied(): Promise<TestDatabase> {
  const database = await createTestDatabase({ template });
  onTestFinished(() => database.drop());
  return database;
}

async function tamper(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** The clients' log of what is stored. */
const operationsOf = (entries: readonly JournalRow[]): Operation[] => {
  const log = new OperationLog();
  const done = entries.filter(({ event, kind }) => event === 'count' || kind === 'instance_created');
  return done.map(({ deployment, id, kind }) =>
    Object.assign(log.begin(kind === 'execution' ? 'direct' : 'write', deployment), {
      outcome: 'ok' as Outcome,
      ...(kind === 'execution' && { historyId: id }),
    }),
  );
};

async function evidenceOf(url: string, changes: Partial<Evidence> = {}): Promise<Evidence> {
  const entries = await readEntries(url);
  const none = {
    payments: [],
    charges: [],
    received: 0n,
    pushes: [],
    pushed: new Set<string>(),
    webhooks: [],
    asked: [],
  };
  return { operations: operationsOf(entries), entries, ...none, ...changes };
}

const whatOf = async (url: string, changes: Partial<Evidence> = {}): Promise<string[]> =>
  (await findAll(url, await evidenceOf(url, changes))).map(({ invariant, what }) => `${invariant}: ${what}`);

describe('the checker of chaos', () => {
  it('finds nothing where every promise holds', async () => {
    const { url } = await copied();
    expect(await whatOf(url)).toEqual([]);
  });

  it.each([
    [
      'a change that is taken out of the journal',
      `update runtime.journal set changes = '[]' where seq = 5`,
      /does not cover it/,
    ],
    [
      'an instance that is changed past the journal',
      `update runtime.instances set state = '{"value": 99}' where instance_id = 'C'`,
      /not what its changes say/,
    ],
    ['an entry that is taken away', `delete from runtime.journal where seq = 6`, /entry 6 has seq 7/],
    [
      'a head that is set back',
      `update runtime.journal_heads set seq = seq - 1 where seq > 9`,
      /the head is/,
    ],
    [
      'an execution that is turned into a failure',
      `update runtime.journal set status = 'failed' where seq = 4`,
      /was to succeed once, and did 0 times/,
    ],
    [
      'an execution that was answered as another',
      `update runtime.journal set id = gen_random_uuid() where seq = 4`,
      /was answered with the entry/,
    ],
  ])('sees %s', async (_what, statement, found) => {
    const { url } = await copied();
    // Who was answered knows it from before.
    const { operations } = await evidenceOf(url);
    await tamper(url, statement);
    expect((await whatOf(url, { operations })).join('\n')).toMatch(found);
  });

  it.each([
    ['lost', 'delete from runtime.timers', /neither executed nor cancelled/],
    [
      'early',
      `update runtime.journal set executed_at = executed_at - interval '1 hour' where trigger = 'timer'`,
      /executes the timer \S+ early/,
    ],
    [
      'executed twice',
      `update runtime.journal set recorded = (select recorded from runtime.journal where trigger = 'timer') where seq = 6`,
      /executes a timer that is not pending/,
    ],
    [
      'executed and still there',
      `insert into runtime.timers (id, deployment_id, event, input, due_at, caller, set_seq, set_index, depth)
        select (s.recorded -> 'timers' -> 0 ->> 'id')::uuid, j.deployment_id, 'count', '{}', now(), '{}', 1, 0, 1
        from runtime.journal j join runtime.journal s on s.deployment_id = j.deployment_id
          and s.seq = (j.recorded -> 'cause' ->> 'seq')::bigint where j.trigger = 'timer'`,
      /is pending although/,
    ],
  ])('sees a timer that is %s', async (_what, statement, found) => {
    const { url } = await copied();
    await tamper(url, statement);
    expect((await whatOf(url)).join('\n')).toMatch(found);
  });

  it('sees an execution that happened twice', async () => {
    const { url } = await copied();
    const { operations } = await evidenceOf(url);
    await tamper(
      url,
      `update runtime.journal set input = jsonb_set(input, '{operation}', '3') where seq = 5`,
    );
    const found = (await whatOf(url, { operations })).join('\n');
    expect(found).toMatch(/operation 3 was to succeed once, and did 2 times/);
    expect(found).toMatch(/operation 4 was to succeed once, and did 0 times/);
  });

  it('sees what was refused and happened, and what nobody asked for', async () => {
    const { url } = await copied();
    const { operations } = await evidenceOf(url);
    const refused = operations
      .slice(1)
      .map((one, index) => ({ ...one, ...(index === 0 && { outcome: 'fail' as const }) }));
    const found = (await whatOf(url, { operations: refused })).join('\n');
    expect(found).toMatch(/operation 2 was to succeed never, and did 1 times/);
    expect(found).toMatch(/operation 1 is in the journal, and nobody asked for it/);
  });

  it.each([
    ['nothing wrong', '', undefined],
    [
      'an occurrence that is doubled',
      `insert into scheduler.occurrences (schedule_id, kind, due_at, status, started_at)
      select schedule_id, 'span', due_at, 'missed', now() from scheduler.occurrences`,
      /2 rows for 1 due times/,
    ],
    ['an occurrence that is lost', 'delete from scheduler.occurrences', /an entry has no fired occurrence/],
    [
      'an occurrence that was early',
      `update scheduler.occurrences set started_at = due_at - interval '1 ms'`,
      /fired early/,
    ],
    ['an occurrence that never ended', `update scheduler.occurrences set status = 'running'`, /never ended/],
    [
      'a due time that was executed twice',
      `update runtime.journal set trigger = 'cron', input = (select input from runtime.journal where event = 'lap')
      where event = 'count' and seq < 4`,
      /executed twice/,
    ],
  ])('sees in a ledger %s', async (_what, statement, found) => {
    const { url } = await copied();
    await tamper(url, `${FIRED}; ${statement}`);
    const schedules = (await whatOf(url)).filter((what) => what.startsWith('schedules'));
    if (found === undefined) expect(schedules).toEqual([]);
    else expect(schedules.join('\n')).toMatch(found);
  });

  it('sees what has not ended', async () => {
    const { url } = await copied();
    const noBlock = async () => undefined;
    expect(await untilEnded(url, async () => 0, noBlock, 0)).toEqual([]);
    await tamper(url, `${FIRED}; update scheduler.occurrences set status = 'running'`);
    expect(await untilEnded(url, async () => 2, noBlock, 0)).toEqual([
      expect.stringMatching(/^1 occurrences under way/),
      '0 of 2 pushes were taken up',
    ]);
  });

  describe('compares the chain with the journal:', () => {
    const chain = async () => {
      const { url } = await copied();
      const entries = await readEntries(url);
      const counted = entries.filter(({ event }) => event === 'count');
      const deployment = counted[0]?.deployment ?? '';
      const pushes = counted.map(({ hash }, index) => ({ deployment, number: index + 1, entryHash: hash }));
      return { url, pushed: new Set([deployment]), pushes };
    };
    it.each([
      ['all is there', (all) => all, undefined],
      ['one was dropped', (all) => all.toSpliced(4, 1), /push 6 stands at position 5/],
      ['the last was dropped', (all) => all.slice(0, -1), /1 of 13 executions are not on the chain/],
      ['one came twice', (all) => all.toSpliced(4, 0, ...all.slice(3, 4)), /push 4 stands at position 5/],
      [
        'one has another content',
        (all) => all.with(2, { ...all[2], entryHash: 'f'.repeat(64) } as never),
        /push 3 is not of the execution/,
      ],
      [
        'one is a stranger',
        (all) => [...all, { deployment: '0x00', number: 1, entryHash: '' }],
        /never to be pushed/,
      ],
    ] as const satisfies readonly [
      string,
      (all: Evidence['pushes']) => Evidence['pushes'],
      RegExp | undefined,
    ][])('%s', async (_what, change, found) => {
      const { url, pushed, pushes } = await chain();
      const what = (await whatOf(url, { pushed, pushes: change(pushes) })).join('\n');
      if (found === undefined) expect(what).toBe('');
      else expect(what).toMatch(found);
    });
  });

  describe('compares what receivers of webhooks were sent with the journal:', () => {
    type Deliveries = Evidence['webhooks'][number]['deliveries'];
    it.each([
      ['all arrived', (all) => all, undefined],
      ['one arrived twice, the second time late', (all) => [...all, ...all.slice(2, 3)], undefined],
      ['one never arrived', (all) => all.toSpliced(4, 1), /was not sent 1 of 13 executions/],
      ['the last never arrived', (all) => all.slice(0, -1), /was not sent 1 of 13 executions/],
      ['two arrived in another order', (all) => [...all.slice(1, 2), ...all.toSpliced(1, 1)], /out of order/],
      [
        'one has another content',
        (all) => all.with(2, { ...all[2], hash: 'f'.repeat(64) } as never),
        /with another content/,
      ],
      ['one is a stranger', (all) => [...all, { id: 'x', hash: '', isGenuine: true }], /does not want/],
      [
        'one is not signed',
        (all) => all.with(2, { ...all[2], isGenuine: false } as never),
        /with a wrong signature/,
      ],
    ] as const satisfies readonly [string, (all: Deliveries) => Deliveries, RegExp | undefined][])(
      '%s',
      async (_what, change, found) => {
        const { url } = await copied();
        const counted = (await readEntries(url)).filter(({ event }) => event === 'count');
        const deliveries = counted.map(({ id, hash }) => ({ id, hash, isGenuine: true }));
        const deployment = counted[0]?.deployment ?? '';
        const webhooks = [null, 'succeeded'].map((status) => ({
          deployment,
          path: '/',
          status,
          deliveries: change(deliveries),
        }));
        const what = (await whatOf(url, { webhooks })).join('\n');
        if (found === undefined) expect(what).toBe('');
        else expect(what).toMatch(found);
      },
    );
  });

  describe('compares the payments with their chain:', () => {
    const payer = `0x${'ab'.repeat(20)}`;
    const payment = {
      key: 'p',
      status: 'settled',
      payer,
      amount: String(PRICE),
      payTo: RECEIVER,
      asset: '0x',
    };
    const bought = { event: 'toast', status: 'succeeded', paymentKey: 'p', input: { name: 'operation 1' } };
    const sound = {
      payments: [payment],
      charges: [{ payer, transaction: '0x1' }],
      received: PRICE,
      bought: [bought],
    };
    it.each([
      ['all is paid', {}, undefined],
      ['a result that nobody paid', { charges: [], received: 0n }, /was never charged/],
      ['a charge without a result', { bought: [] }, /was charged, and has bought nothing/],
      ['two results', { bought: [bought, bought] }, /more than one execution/],
      [
        'two charges',
        { charges: [...sound.charges, ...sound.charges], received: 2n * PRICE },
        /charged more than once/,
      ],
      ['another amount', { payments: [{ ...payment, amount: '1' }] }, /asks 1 for/],
      ['another receiver', { received: 0n }, /the receiver has 0/],
      ['a stranger who was charged', { payments: [], bought: [] }, /for no payment of ours/],
      [
        'a result without any payment',
        { bought: [bought, { ...bought, paymentKey: null }] },
        /succeeded unpaid/,
      ],
    ])('%s', async (_what, changes, found) => {
      const { url } = await copied();
      const { bought: entries, ...evidence } = { ...sound, ...changes };
      const before = await evidenceOf(url);
      const all = [
        ...before.entries,
        ...entries.map((one) => ({ ...before.entries[0], ...one, kind: 'execution' })),
      ];
      const what = (await whatOf(url, { ...evidence, entries: all as never })).filter((one) =>
        one.startsWith('payments'),
      );
      if (found === undefined) expect(what).toEqual([]);
      else expect(what.join('\n')).toMatch(found);
    });
  });

  describe('compares follow-ups with what was bound:', () => {
    const bind = (seq: number, bindings: object[]) => ({
      seq,
      kind: 'bindings_updated',
      input: { bindings },
    });
    const [leads, follows] = ['lead', 'follow'].map((event) => (eventVersion: number) => ({
      event,
      eventVersion,
    }));
    const done = { kind: 'execution', status: 'succeeded', trigger: 'api' };
    const leader = { ...done, seq: 2, ...leads?.(1), input: { operation: 1 } };
    const follower = {
      ...{ ...done, seq: 4, ...follows?.(2), trigger: 'timer' },
      ...{ input: { leader: 1, led: 1 }, result: { by: 2 } },
    };
    const bound = [bind(1, [leads?.(1) ?? {}, follows?.(1) ?? {}]), bind(3, [follows?.(2) ?? {}])];
    it.each([
      ['all is right', [leader, follower], undefined],
      ['one was never executed', [leader], /operation 1 has 0 follow-ups/],
      ['one was executed twice', [leader, follower, { ...follower, seq: 5 }], /operation 1 has 2 follow-ups/],
      ['one failed', [leader, { ...follower, status: 'failed' }], /has entry 4: timer, failed/],
      ['one that nobody set', [follower], /operation 1 has a follow-up, and has not succeeded/],
      [
        'the version of before was executed',
        [leader, { ...follower, eventVersion: 1, result: { by: 1 } }],
        /entry 4 executes version 1 of follow, and 2 was bound/,
      ],
      [
        'another version has decided',
        [leader, { ...follower, result: { by: 1 } }],
        /another version has decided/,
      ],
      [
        'the follow-up of another version was set',
        [leader, { ...follower, input: { leader: 1, led: 2 } }],
        /has the follow-up of another version/,
      ],
    ])('%s', (_what, executions, found) => {
      const entries = [...bound, ...executions].sort((a, b) => a.seq - b.seq);
      const what = wrongFollowUps({ entries: entries as never });
      if (found === undefined) expect(what).toEqual([]);
      else expect(what.join('\n')).toMatch(found);
    });
  });

  it('sees a decision that is the answer to another question, or to none', async () => {
    const { url } = await copied();
    await tamper(
      url,
      `update runtime.journal set event = 'judge', result = '{"operation": 7}' where seq = 5`,
    );
    const found = (await whatOf(url, { asked: [7] })).join('\n');
    expect(found).toMatch(/has the result \{"operation":7\}/);
    expect(found).toMatch(/was never put to the model/);
  });
});

it('secrets and errors are found in logs', () => {
  const logs = new Map([
    ['a.log', '{"level":"error","requestId":"r1"}\n{"level":"info","requestId":"r1","key":"k"}'],
  ]);
  expect(secretsIn(logs, ['nothing', '"k"'])).toEqual(['secret 1 stands in a.log']);
  expect(linesAbout(logs, 'r1')).toEqual(['a.log: {"level":"error","requestId":"r1"}']);
});

it.each([
  [{ broken: 'ECONNREFUSED', wasSent: false }, 'fail'],
  [{ broken: 'ECONNRESET', wasSent: true }, 'unknown'],
  [{ status: 200 }, 'ok'],
  [{ status: 202 }, 'running'],
  [{ status: 500, code: 'internal' }, 'unknown'],
  [{ status: 504, code: 'deadline_exceeded' }, 'unknown'],
  [{ status: 503, code: 'unavailable' }, 'fail'],
  [{ status: 503, code: 'unavailable', facts: { outcome: 'unknown' } }, 'unknown'],
  [{ status: 503, code: 'unavailable', facts: { executionId: 'e' } }, 'unknown'],
  [{ status: 409, code: 'request_in_flight' }, 'unknown'],
  [{ status: 400, code: 'invalid_input' }, 'fail'],
])('a client reads %j as %s', (reply, said) => {
  const { status, ...body } = reply as { status?: number };
  const answer = { status, headers: new Headers(), body };
  expect(judge(status === undefined ? (reply as never) : ({ answer } as never))).toBe(said);
});

describe('a plan of faults', () => {
  const plan = (seed: number) =>
    drawPlan({ random: createRandom(seed), kinds: FAULTS, lengthMs: 600_000, everyMs: 2000 });

  it('follows from its seed', () => {
    expect(plan(1)).toEqual(plan(1));
    expect(plan(1)).not.toEqual(plan(2));
  });

  it('has every kind of fault, and never two at one target', () => {
    const faults = plan(3);
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(Object.keys(FAULTS)));
    const endOf = new Map<string, number>();
    for (const { at, target, forMs } of faults) {
      expect(at).toBeGreaterThanOrEqual(endOf.get(hitBy(target)) ?? 0);
      endOf.set(hitBy(target), at + forMs);
    }
  });
});
