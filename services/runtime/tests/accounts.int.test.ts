import { accountChanged } from '@orrery/contracts';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import {
  findOperatorPause,
  requestOperatorPause,
  storeAccounts,
} from '../src/store/deployments/account-store.js';
import { quotaOf } from '../src/store/runs/usage-store.js';
import { codeOf, type House, OWNER, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
const { context } = await house.boot();

let revision = 0;
const tell = (news: { disabled?: boolean; quotas?: { deployments?: number } }) => {
  revision += 1;
  const state = { accountId: OWNER, disabled: false, quotas: {}, revision, ...news };
  return house.bus.publish(accountChanged, state, { id: `account ${revision}`, orderingKey: String(OWNER) });
};

it('a disabled account pauses its deployments, and only its being enabled resumes them', async () => {
  const { params, execute, history, verify } = await plantDeployment(house);
  const paused = async () => (await house.call('deployments.get', { params })).data.isPaused;
  await tell({ disabled: true });
  await vi.waitFor(async () => expect(await paused()).toBe(true));
  await house.call('deployments.resume', { params });
  expect(await codeOf(execute({ id: 'a' }))).toBe('deployment_paused');
  await tell({ disabled: false });
  await vi.waitFor(async () => expect(await paused()).toBe(false));
  await execute({ id: 'a' });
  const kinds = (await history({ include: 'all' })).map(({ kind }) => kind);
  expect(kinds).toEqual(['execution', 'resumed', 'paused', 'deployment_created']);
  expect(await verify()).toMatchObject({ valid: true });
});

it('the operator pauses a deployment, and neither its owner nor its account resumes it', async () => {
  const { params, deployment, execute, history, verify } = await plantDeployment(house);
  const paused = async () => (await house.call('deployments.get', { params })).data.isPaused;
  const upperCase = `0x${deployment.address.slice(2).toUpperCase()}`;
  const found = await findOperatorPause(context.db, upperCase);
  expect(found).toEqual({ id: deployment.id, address: deployment.address, isPaused: false });
  expect(await findOperatorPause(context.db, String(deployment.id))).toEqual(found);
  expect(await findOperatorPause(context.db, '0xnone')).toBeUndefined();
  await requestOperatorPause(context.db, deployment.id, true);
  await vi.waitFor(async () => expect(await paused()).toBe(true));
  const { message } = await house.call('deployments.resume', { params });
  expect(message).toMatch('The operator of the service keeps the deployment paused');
  await tell({ disabled: false });
  await expect(execute({ id: 'a' })).rejects.toMatchObject({
    code: 'deployment_paused',
    message: 'The operator of the service has paused it, and alone can resume it.',
  });
  await requestOperatorPause(context.db, deployment.id, false);
  await vi.waitFor(async () => expect(await paused()).toBe(false));
  await execute({ id: 'a' });
  const entries = await history({ include: 'all' });
  expect(entries.map(({ kind, caller }) => [kind, caller]).slice(1, 3)).toEqual([
    ['resumed', 'service:operator'],
    ['paused', 'service:operator'],
  ]);
  expect(await verify()).toMatchObject({ valid: true });
});

it('the dollars for models are those of the newest revision, and follow a release that stored none', async () => {
  const store = (revision: number, aiUsdPerDay?: number) => {
    const quotas = aiUsdPerDay === undefined ? {} : { aiUsdPerDay };
    return storeAccounts(context.db, [{ accountId: 78, disabled: false, quotas, revision }]);
  };
  await store(2, 2.5);
  await store(1, 9);
  expect(await quotaOf(context.db, 78)).toBe(2.5);
  await sql`update runtime.accounts set ai_usd_per_day = null where account_id = 78`.execute(context.db);
  await store(2, 2.5);
  expect(await quotaOf(context.db, 78)).toBe(2.5);
  await store(3);
  expect(await quotaOf(context.db, 78)).toBeNull();
});

it('an account stays as its newest revision says, in whatever order revisions arrive', async () => {
  const store = (revision: number, deployments: number) =>
    storeAccounts(context.db, [{ accountId: 77, disabled: false, quotas: { deployments }, revision }]);
  await store(6, 60);
  await store(8, 80);
  await store(7, 70);
  const stored = sql`select deployments, revision from accounts where account_id = 77`;
  expect((await stored.execute(context.db)).rows).toEqual([{ deployments: 80, revision: 8 }]);
});

it('of a thousand accounts only those with news are written, in one statement', async () => {
  let statements = 0;
  const counted = context.db.withPlugin({
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const states = Array.from({ length: 1000 }, (_, at) => ({
    ...{ accountId: 5000 + at, disabled: false, quotas: { aiUsdPerDay: 0.1, deployments: 20 }, revision: 1 },
  }));
  /** A row that was locked or written again has an `xmax`, or another place. */
  const rows = async () =>
    (
      await sql`select account_id, ctid::text, xmax::text, disabled, deployments from accounts
        where account_id >= 5000 order by account_id`.execute(context.db)
    ).rows;
  await storeAccounts(counted, states);
  const before = await rows();
  expect(before).toHaveLength(1000);
  const news = { accountId: 5007, disabled: true, quotas: { deployments: 3 }, revision: 2 };
  await storeAccounts(
    counted,
    states.map((state) => (state.accountId === 5007 ? news : state)),
  );
  const after = await rows();
  expect(after.filter((row, at) => JSON.stringify(row) !== JSON.stringify(before[at]))).toEqual([
    expect.objectContaining({ account_id: 5007, disabled: true, deployments: 3 }),
  ]);
  expect(statements).toBe(2);
});

/** The code of a refusal, or that it came about. */
const create = (body: object = {}) =>
  plantDeployment(house, body).then(
    () => 'created',
    ({ code }: { code: string }) => code,
  );

it('an account has no more deployments than its quota allows, and one too many locks nothing', async () => {
  await plantDeployment(house);
  await tell({ quotas: { deployments: 0 } });
  await vi.waitFor(async () => expect(await create()).toBe('quota_exceeded'));
  expect(await codeOf(plantDeployment(house, { mode: 'locked' }))).toBe('quota_exceeded');
  expect(house.catalog.calls.lock).toBe(0);
  await tell({});
  await vi.waitFor(async () => expect(await create()).toBe('created'));
});

it('an account that the runtime has not heard of is held to what the gateway says of it', async () => {
  await sql`delete from accounts where account_id = ${OWNER}`.execute(context.db);
  revision += 1;
  house.accounts.set(OWNER, { accountId: OWNER, disabled: false, quotas: { deployments: 0 }, revision });
  expect(await create()).toBe('quota_exceeded');
  house.accounts.clear();
  await tell({});
  await vi.waitFor(async () => expect(await create()).toBe('created'));
});

/** Leaves room for so many deployments more. */
async function leave(count: number): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from deployments
    where owner_account_id = ${OWNER} and deleted_at is null`.execute(context.db);
  const deployments = (rows[0]?.count ?? 0) + count;
  await tell({ quotas: { deployments } });
  const known = sql`select from accounts where account_id = ${OWNER} and deployments = ${deployments}`;
  await vi.waitFor(async () => expect((await known.execute(context.db)).rows).toHaveLength(1));
}

const waiting = sql<{ pid: number }>`
  select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Begins creations, none of which gets past its quota while `meanwhile` runs. */
const begin = <T>(count: number, body: object, meanwhile: (begun: Promise<string>[]) => Promise<T>) =>
  context.db.transaction().execute(async (trx) => {
    await sql`select from accounts where account_id = ${OWNER} for update`.execute(trx);
    const begun = Array.from({ length: count }, () => create(body));
    const all = vi.waitFor(async () => expect((await waiting.execute(context.db)).rows).toHaveLength(count));
    all.catch(() => undefined);
    // On a busy machine the first one may give up before the last one begins.
    await Promise.race([all, ...begun]);
    return meanwhile(begun);
  });

/** What becomes of creations that have all begun before one of them is through: one more than there is room for. */
async function together(left: number, body: object): Promise<string[]> {
  await leave(left);
  const held = await begin(left + 1, body, async (begun) => ({ begun }));
  const outcomes = await Promise.all(held.begun);
  return outcomes.includes('deadline_exceeded') ? together(left, body) : outcomes.toSorted();
}

it.each([
  ['deployments', 1],
  ['clones', 1],
  ['clones', 4],
])('of %s made at once no more than the %i that are left come about', async (what, left) => {
  await leave(1);
  const { deployment } = await plantDeployment(house);
  const body = what === 'clones' ? { bindings: [], sourceDeployment: deployment.address } : {};
  const created = Array.from({ length: left }, () => 'created');
  expect(await together(left, body)).toEqual([...created, 'quota_exceeded']);
});

it('a creation that waits too long for another one of its account says so', async () => {
  await leave(1);
  const outcomes = await begin(1, {}, async (begun) => {
    await sql`select pg_cancel_backend(pid) from (${waiting}) as waiting`.execute(context.db);
    return Promise.all(begun);
  });
  expect(outcomes).toEqual(['deadline_exceeded']);
});
