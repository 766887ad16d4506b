import { accountChanged, type PaymentDemand, ServiceError } from '@orrery/contracts';
import { createLogger } from '@orrery/service-kit';
import { createTestDatabase, FakeClock } from '@orrery/testing';
import { query } from '@orrery/testing/servers';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DirectoryDb, openDirectory, openRuntimeDatabase, type RuntimeDb } from '../src/operator.js';
import { createBudgets } from '../src/runs/models/budgets.js';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import { addDatabase } from '../src/store/leases/add-database.js';
import { moveEmptyPartition } from '../src/store/leases/moves/move-empty.js';
import { raiseIds } from '../src/store/leases/spread-ids.js';
import { copyAccountWide } from '../src/store/runs/account-wide.js';
import { createDeciderDouble } from './decider-double.js';
import { incrementVersion } from './fake-catalog.js';
import { modelNamed } from './model-double.js';
import { sendsTo } from './paying.js';
import { createPaymentWorld, paymentFor, RECEIVER } from './payment-world.js';
import {
  codeOf,
  type House,
  OTHER,
  OWNER,
  plantDeployment,
  prepareHouse,
  refusalOf,
} from './running-runtime.js';

const house: House = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const first = house.databaseUrl;
const [second, directoryUrl] = await Promise.all(
  [1, 2].map(async () => house.resources.use('database', await createTestDatabase()).url),
);
if (second === undefined || directoryUrl === undefined) throw new Error('no databases');
const urls = [first, second];
type Planted = Awaited<ReturnType<typeof plantDeployment>>;
let planted: Planted[] = [];
let runtimes: Awaited<ReturnType<House['boot']>>[] = [];

const payments = createPaymentWorld();
const decider = createDeciderDouble();
const accepts = TEST_NETWORKS.accepts.filter(({ family }) => family === 'evm');
const boot = (databaseUrl: string) =>
  house.boot({
    ...{ directoryUrl, databaseUrl, payments: { ...TEST_NETWORKS, accepts, settleMs: 20_000 } },
    paymentParties: payments.parties,
    decider: decider.decider,
    models: [{ ...modelNamed('priced', true), inputUsdPerMillionTokens: 1 }],
  });

/** Two databases of which one has the even and one the odd partitions. */
beforeAll(async () => {
  await (await house.boot({ directoryUrl }))[Symbol.asyncDispose]();
  const options = { logger, maxConnections: 2 };
  await using source = await openRuntimeDatabase({ ...options, databaseUrl: first });
  await using target = await openRuntimeDatabase({ ...options, databaseUrl: second });
  await using directory = await openDirectory({
    ...{ databaseUrl: first, directoryUrl, applicationName: 'test', logger },
  });
  await addDatabase(target.db, directory.db, '2');
  const all = { source: source.db, target: target.db, directory: directory.db };
  await expect(moveEmptyPartition(all, 1)).rejects.toThrow('Runtimes have to notice');
  await query(directoryUrl, `update directory.databases set added_at = now() - interval '1 hour'`);
  for (let odd = 1; odd < 64; odd += 2) await moveEmptyPartition(all, odd);
  runtimes = [];
  house.catalog.plantVersion({
    ...incrementVersion,
    event: 'priced',
    executionSettings: { visibility: 'public' as const, priceUsd: 0.01 },
  });
  house.catalog.plantVersion({
    event: 'judge',
    inputSchema: { id: 'string' },
    stateChanges: { counter: 'partial' },
    behaviorPrompt: 'Judge.',
  });
  for (const databaseUrl of urls) runtimes.push(await boot(databaseUrl));
  planted = await Promise.all(Array.from({ length: 16 }, () => plantDeployment(house)));
});
afterAll(async () => {
  for (const runtime of runtimes) await runtime[Symbol.asyncDispose]();
});

const idsIn = async (url: string | undefined): Promise<number[]> =>
  (await query<{ id: string }>(url ?? '', 'select id from runtime.deployments order by id')).map(({ id }) =>
    Number(id),
  );
const ids = () => planted.map(({ deployment }) => deployment.id).sort((a, b) => a - b);
const world = { worldAddress: String(house.catalog.world.id) };

let revision = 0;
/** Publishes the account's state, and waits until both databases have it. */
const tell = async (news: { disabled?: boolean; quotas?: object }) => {
  revision += 1;
  const state = { accountId: OWNER, disabled: false, quotas: {}, revision, ...news };
  await house.bus.publish(accountChanged, state, { id: `account ${revision}`, orderingKey: String(OWNER) });
  for (const url of urls)
    await vi.waitFor(async () =>
      expect(
        await query(url ?? '', 'select from runtime.accounts where account_id = $1 and revision = $2', [
          OWNER,
          revision,
        ]),
      ).toHaveLength(1),
    );
};

describe('deployments in two databases', () => {
  it('are created in both, each in the home of its partition, under ids that grow', async () => {
    const [even, odd] = await Promise.all(urls.map(idsIn));
    expect(even?.length).toBeGreaterThan(0);
    expect(odd?.length).toBeGreaterThan(0);
    expect(even?.every((id) => id % 2 === 0)).toBe(true);
    expect(odd?.every((id) => id % 2 === 1)).toBe(true);
    expect([...(even ?? []), ...(odd ?? [])].sort((a, b) => a - b)).toEqual(ids());
    const { deployment } = await plantDeployment(house);
    expect(deployment.id).toBeGreaterThan(Math.max(...ids()));
    planted.push(await existing(deployment.id));
  });

  it('execute, are read and verified by address and by id, whichever process is asked', async () => {
    for (const one of planted) {
      await one.execute({ id: 'x' });
      expect(await one.counter('x')).toMatchObject({ state: { count: 1 } });
      expect(await one.verify()).toMatchObject({ valid: true });
    }
  });

  it('are listed together, in their order, page by page', async () => {
    const seen: number[] = [];
    for (let page = 1; seen.length < planted.length; page += 1) {
      const list = await house.call('deployments.list', { params: world, query: { page, limit: 5 } });
      expect(list.pagination.total).toBe(planted.length);
      seen.push(...list.data.map(({ id }) => id));
    }
    expect(seen).toEqual(ids());
  });

  it('tell their budgets to their owner alone, in a list too', async () => {
    const one = planted.at(-1)?.params ?? world;
    await house.call('deployments.update', { params: one, body: { aiDailyBudgetUsd: 7 } });
    await house.call('deployments.publish', { params: one });
    const budgets = async (accountId: number) => {
      const { data } = await house.call('deployments.list', { params: world }, { accountId });
      return data.flatMap(({ aiDailyBudgetUsd, isPublic }) => (isPublic ? [aiDailyBudgetUsd] : []));
    };
    expect([await budgets(OWNER), await budgets(OTHER)]).toEqual([[7], [null]]);
    await house.call('deployments.unpublish', { params: one });
  });

  it('have their heads in one list', async () => {
    const found: string[] = [];
    let after = null as Awaited<ReturnType<typeof heads>>['next'];
    do {
      const page = await heads(after);
      found.push(...page.heads.map(({ deployment }) => deployment));
      after = page.next;
    } while (after !== null);
    expect(found.sort()).toEqual(planted.map(({ deployment }) => deployment.address).sort());
  });

  it('are cloned where their source lives', async () => {
    const source = planted.find(({ deployment }) => deployment.id % 2 === 1);
    const clone = await plantDeployment(house, {
      bindings: [],
      sourceDeployment: source?.deployment.address,
    });
    expect(clone.deployment.id % 2).toBe(1);
    expect(await clone.counter('x')).toMatchObject({ state: { count: 1 } });
    planted.push(clone);
  });

  it('are created once for a key, wherever that was', async () => {
    const create = () =>
      house.call('deployments.create', {
        params: world,
        headers: { 'idempotency-key': 'once' },
        body: { name: 'Once', bindings: [] },
      });
    const made = new Set<number>();
    for (let time = 0; time < 8; time += 1) made.add((await create()).data.id);
    expect(made.size).toBe(1);
    planted.push(await existing([...made][0] ?? 0));
  });

  it('count together for the quota of their account, and a deleted one no more', async () => {
    const { pagination } = await house.call('deployments.list', {
      params: world,
      query: { page: 1, limit: 1 },
    });
    const allowed = pagination.total + 2;
    await tell({ quotas: { deployments: allowed } });
    const made = await Promise.allSettled(Array.from({ length: 6 }, () => plantDeployment(house)));
    const created = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(created).toHaveLength(2);
    expect(await codeOf(plantDeployment(house))).toBe('quota_exceeded');
    await house.call('deployments.delete', { params: created[0]?.params ?? {} });
    await plantDeployment(house);
    expect(await codeOf(plantDeployment(house))).toBe('quota_exceeded');
    await tell({});
  });

  it('are paused with their account, wherever they live', async () => {
    await tell({ disabled: true });
    for (const { execute } of planted.slice(0, 6))
      await vi.waitFor(async () => expect(await codeOf(execute({ id: 'x' }))).toBe('deployment_paused'));
    await tell({});
    for (const { execute } of planted.slice(0, 6)) await vi.waitFor(() => execute({ id: 'x' }));
  });

  it('that nobody knows are not found', async () => {
    const address = `0x${'ab'.repeat(20)}`;
    for (const unknown of [address, '999999', '999998'])
      expect(await codeOf(house.call('deployments.get', { params: { ...world, address: unknown } }))).toBe(
        'deployment_not_found',
      );
  });
});

describe('what holds for an account, or for a payment', () => {
  const oneOf = async (rest: 0 | 1, body: object) => {
    for (;;) {
      const made = await plantDeployment(house, body);
      if (made.deployment.id % 2 === rest) return made;
    }
  };

  it('takes a payment for one deployment, of all in both databases', async () => {
    const bindings = [{ event: 'priced', eventVersion: 1 }];
    const pair = await Promise.all(
      ([0, 1] as const).map((rest) => oneOf(rest, { bindings, payToAddress: RECEIVER })),
    );
    for (const { params } of pair) await house.call('deployments.publish', { params });
    const senders = pair.map(({ deployment }) => sendsTo(house, deployment.address));
    const { facts } = await refusalOf(senders[0]?.() as Promise<unknown>);
    const payment = paymentFor(facts as unknown as PaymentDemand);
    const outcomes = await Promise.all(
      senders.map((send) =>
        send({ payment }).then(
          () => 'paid',
          ({ code }: { code: string }) => code,
        ),
      ),
    );
    expect(outcomes.sort()).toEqual(['paid', 'payment_already_used']);
    // A repetition at the same deployment is told of the first execution, and charged no more.
    const again = await Promise.all(
      senders.map((send) =>
        send({ payment }).then(
          ({ data }) => data.seq,
          ({ code }: { code: string }) => code,
        ),
      ),
    );
    expect(again.map(String).sort()).toEqual([expect.stringMatching(/^\d+$/), 'payment_already_used']);
    expect(payments.charges.size).toBe(1);
  });

  it('spends the dollars of an account for models once, in both databases', async () => {
    await tell({ quotas: { aiUsdPerDay: 1 } });
    const bindings = [{ event: 'judge', eventVersion: 1 }];
    const pair = await Promise.all(([0, 1] as const).map((rest) => oneOf(rest, { bindings })));
    const spend = async (one: Planted | undefined, usd: number) => {
      const asked = (one?.execute({ id: 'x' }, {}, 'judge') ?? Promise.reject()).then(
        () => 'decided',
        ({ code }: { code: string }) => code,
      );
      const { request, answer, fail } = await decider.called();
      try {
        const cost = { inputTokens: 1, outputTokens: 1, usd };
        const reservation = await request.budget.reserve(cost, new AbortController().signal);
        await reservation.settle(cost);
        answer({ 'counter:x': { count: 1 } });
      } catch (error) {
        fail(error as Error);
      }
      return asked;
    };
    expect(await spend(pair[0], 0.6)).toBe('decided');
    expect(await spend(pair[1], 0.6)).toBe('budget_exhausted');
    expect(await spend(pair[1], 0.4)).toBe('decided');
    expect(await spend(pair[0], 0.1)).toBe('budget_exhausted');
    await tell({});
  });
});

describe('the directory of several databases', () => {
  const opened = async <T>(
    work: (both: { db: RuntimeDb; directory: DirectoryDb }) => Promise<T>,
    databaseUrl = first,
  ): Promise<T> => {
    await using runtime = await openRuntimeDatabase({ databaseUrl, logger, maxConnections: 2 });
    const where = { databaseUrl, directoryUrl, applicationName: 'test', logger };
    await using directory = await openDirectory(where);
    return await work({ db: runtime.db, directory: directory.db });
  };

  it('counts what a model has cost once, also where it hears of that twice, or late', () =>
    opened(async ({ db, directory }) => {
      let isAway = false;
      const reached = directory.withPlugin({
        transformQuery: ({ node }) => {
          if (isAway) throw new ServiceError('unavailable', 'The directory is away.');
          return node;
        },
        transformResult: async ({ result }) => result,
      });
      const clock = new FakeClock();
      const homes = { isOnly: () => false, directory: reached };
      const budgets = createBudgets({ db, homes, clock, logger });
      const deploymentId = (await idsIn(first))[0] ?? 0;
      const payer = { deploymentId, accountId: 999, event: 'judge', dailyBudgetUsd: 10 };
      const run = { ...payer, executionId: crypto.randomUUID(), deadline: clock.monotonic() + 60_000 };
      const reservation = await budgets
        .of(run)
        .reserve({ inputTokens: 1, outputTokens: 1, usd: 1 }, new AbortController().signal);
      isAway = true;
      await reservation.settle({ inputTokens: 2, outputTokens: 3, usd: 0.5 });
      // As another process does meanwhile.
      await copyAccountWide(db, directory);
      isAway = false;
      const told = async () => {
        const { rows } = await sql`
          select calls, input_tokens, output_tokens, usd::float8 as usd,
            (select count(*)::int from ai_reservations where account_id = 999) as reserved
          from ai_usage where account_id = 999`.execute(directory);
        return rows;
      };
      await vi.waitFor(async () => {
        await clock.advance(1000);
        expect(await told()).toEqual([
          { calls: 1, input_tokens: 2, output_tokens: 3, usd: 0.5, reserved: 0 },
        ]);
      });
      await budgets.stop();
    }));

  it('goes on with its ids where it was, when a process starts again', async () => {
    const before = (await plantDeployment(house)).deployment.id;
    await opened(({ db, directory }) => raiseIds(db, directory), second);
    await opened(({ db, directory }) => raiseIds(db, directory));
    const after = (await plantDeployment(house)).deployment.id;
    expect(after).toBeGreaterThan(before);
    expect(after).toBeLessThan(before + 10_000);
  });
});

describe('a home that is away', () => {
  it('makes its deployments and lists unavailable, and leaves the other alone', async () => {
    await runtimes.pop()?.[Symbol.asyncDispose]();
    const [even, odd] = [0, 1].map((rest) => planted.find(({ deployment }) => deployment.id % 2 === rest));
    await even?.execute({ id: 'x' });
    expect(await codeOf(house.call('deployments.get', { params: odd?.params ?? {} }))).toBe('unavailable');
    expect(
      await codeOf(house.call('deployments.list', { params: world, query: { page: 1, limit: 5 } })),
    ).toBe('unavailable');
    expect(await codeOf(allHeads())).toBe('unavailable');
    const deployments = [odd, even].map((one) => one?.deployment.address ?? '');
    expect(await codeOf(house.ask('deployments.published', { deployments }))).toBe('unavailable');
    await house.call('deployments.publish', { params: even?.params ?? {} });
    expect(await house.ask('deployments.published', { deployments, withinMs: 10_000 })).toMatchObject({
      deployments: [null, { address: even?.deployment.address }],
      unasked: [0],
    });
    runtimes.push(await boot(second));
    await vi.waitFor(() => odd?.execute({ id: 'x' }));
  });
});

const heads = (after: unknown) =>
  house.ask('journal.heads', { changedSince: null, after, limit: 3, of: 'journal' });
const allHeads = async () => {
  for (let after: unknown = null; ; ) {
    const page = await heads(after);
    if (page.next === null) return;
    after = page.next;
  }
};

async function existing(id: number): Promise<Planted> {
  const params = { ...world, address: String(id) };
  const { data: deployment } = await house.call('deployments.get', { params });
  return {
    deployment,
    params,
    execute: (input, sent = {}, event = 'increment') =>
      house.call('deployments.execute', { params, body: { event, input }, ...sent }),
    verify: async () => (await house.call('history.verify', { params })).data,
    counter: async (instanceId: string) =>
      (await house.call('instances.get', { params: { ...params, instanceId } })).data,
  } as Planted;
}
