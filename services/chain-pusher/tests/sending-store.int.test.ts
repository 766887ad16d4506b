import type { PushStatus } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { toPushRecord } from '../src/core/pushes/push-record.js';
import type { SubmissionState } from '../src/core/submissions/submission.js';
import { storeAccounts } from '../src/store/accounts/account-store.js';
import { claimBatches } from '../src/store/lanes/claim-batches.js';
import { compareLane } from '../src/store/lanes/compare-lane.js';
import { failSubmission, forgetFailures } from '../src/store/lanes/lane-failure.js';
import { backlogOf } from '../src/store/lanes/lane-store.js';
import { stopLost } from '../src/store/lanes/lost-entries.js';
import { listPushes } from '../src/store/pushes/push-store.js';
import { fillGaps } from '../src/store/submissions/nonces.js';
import { submissionsUnderWay } from '../src/store/submissions/submission-store.js';
import type { Db } from '../src/store/tables/schema.js';
import { ownDatabase } from './own-database.js';
import { adoptParts } from './sending-house.js';

const chain = 'local';
const signer = 'own';
const digestOf = (number: number) => String(number).padStart(64, '0');

let db: Db;
beforeEach(async () => {
  db = await ownDatabase();
});

/** A lane with this many pushes, of which none has been sent. */
async function lane(deployment: string, last: number): Promise<string> {
  await db.insertInto('lanes').values({ deployment, chain, last_number: last }).execute();
  for (let number = 1; number <= last; number += 1) {
    const push = { deployment, chain, number, seq: number, history_id: crypto.randomUUID() };
    const rest = { entry_hash: 'e', digest: digestOf(number), content: '{}', truncated: false };
    await db
      .insertInto('pushes')
      .values({ ...push, ...rest, error: null })
      .execute();
  }
  return deployment;
}
const submission = (nonce: number, state: SubmissionState, deployment = 'other') =>
  db
    .insertInto('attempts')
    .values({ chain, signer, nonce, deployment, from_number: 1, to_number: 1, state })
    .returning('id')
    .executeTakeFirstOrThrow();
const laneRow = (deployment: string) =>
  db.selectFrom('lanes').selectAll().where('deployment', '=', deployment).executeTakeFirstOrThrow();
const open = () => submissionsUnderWay(db, chain, { limit: 100, watched: 0 });
const claim = (nonce: number | null, ...deployments: string[]) =>
  transaction(db, (trx) => claimBatches(trx, { chain, signer, nonce }, deployments));

it('what a deletion has cancelled is not sent when a submission before it is over', async () => {
  await lane('a', 4);
  await db.updateTable('lanes').set({ last_number: 2 }).execute();
  await claim(5, 'a');
  expect((await open()).map(({ from, to }) => [from, to])).toEqual([[1, 2]]);
  expect(await laneRow('a')).toMatchObject({ sent_number: 2, last_number: 2 });
});

it('a lane that was adopted goes on, also where its process dies before the dead letter of the lost entries is skipped', async () => {
  await lane('a', 2);
  const letters = sql<{ resolution: string | null }>`select resolution from inbox_parked`;
  await sql`
    insert into inbox_parked (consumer, ordering_key, seq, payload, reason)
    values ('c', 'a', 2, '{}', 'tail_lost: 2')`.execute(db);
  await stopLost(db, 'c');
  expect(await laneRow('a')).toMatchObject({ stop: 'chain_ahead' });
  expect(await adoptParts(db, 'a', 1)).toBe('lost');
  expect((await letters.execute(db)).rows).toEqual([{ resolution: 'skip' }]);
  await stopLost(db, 'c');
  expect(await laneRow('a')).toMatchObject({ stop: null, sent_number: 1 });
});

describe('the nonce of a submission', () => {
  it('is the first one that no submission under way has, in a block or not', async () => {
    await submission(5, 'open');
    await submission(6, 'included');
    await submission(7, 'confirmed');
    await submission(8, 'dead');
    await lane('a', 1);
    await claim(5, 'a');
    expect((await open()).map(({ deployment, nonce }) => [deployment, nonce])).toEqual([
      ['other', 5],
      ['a', 8],
    ]);
  });

  it('is used up by an empty submission where it would leave a gap below an open one', async () => {
    await submission(5, 'dead');
    await submission(6, 'confirmed');
    await submission(7, 'dead');
    await submission(9, 'open');
    const asked: number[] = [];
    const fill = (mayFill: (nonce: number) => boolean) =>
      transaction(db, (trx) => fillGaps(trx, { chain, signer, nonce: 5 }, mayFill));
    await fill((nonce) => {
      asked.push(nonce);
      return nonce !== 7;
    });
    expect(asked).toEqual([5, 7, 8]);
    const filled = (await open()).filter(({ deployment }) => deployment === '');
    expect(filled.map(({ nonce, from, to }) => ({ nonce, from, to }))).toEqual([
      { nonce: 5, from: 1, to: 0 },
      { nonce: 8, from: 1, to: 0 },
    ]);
    await fill(() => true);
    await fill(() => true);
    expect((await open()).map(({ nonce }) => nonce).toSorted()).toEqual([5, 7, 8, 9]);
  });

  it('is none where the chain counts none, and leaves no gap where nothing is open', async () => {
    await lane('a', 1);
    await claim(null, 'a');
    expect((await open()).map(({ nonce }) => nonce)).toEqual([null]);
    await transaction(db, (trx) => fillGaps(trx, { chain, signer, nonce: 3 }, () => true));
    expect(await open()).toHaveLength(1);
  });
});

describe('a lane whose push is refused', () => {
  const failure = { kind: 'refused', reason: 'no', retryMs: 0 } as const;
  const refuse = async (kind: 'refused' | 'unclear' = 'refused') => {
    await claim(1, 'a');
    const [one] = await open();
    if (one === undefined) throw new Error('nothing was claimed');
    await transaction(db, (trx) => failSubmission(trx, one, { ...failure, kind }));
  };

  it('stops after five refusals in a row; what has its effect between them begins the count anew', async () => {
    await lane('a', 2);
    // The first one finds which of the two is at fault.
    for (let tries = 0; tries < 4; tries += 1) await refuse();
    expect(await laneRow('a')).toMatchObject({ failures: 4, stop: null, sent_number: 0 });
    await transaction(db, (trx) => forgetFailures(trx, { deployment: 'a', chain }));
    expect((await laneRow('a')).failures).toBe(0);
    for (let tries = 0; tries < 4; tries += 1) await refuse();
    expect((await laneRow('a')).stop).toBeNull();
    await refuse();
    expect(await laneRow('a')).toMatchObject({ failures: 5, stop: 'failed' });
    const { rows } = await listPushes(db, 'a', {}, { page: 1, limit: 10 });
    expect(rows.map(({ number, status, error }) => [number, status, error?.detail])).toEqual([
      [2, 'queued', 'no'],
      [1, 'failed', 'no'],
    ]);
  });

  it('stops after ten answers in words that nobody knows', async () => {
    await lane('a', 1);
    for (let tries = 0; tries < 9; tries += 1) await refuse('unclear');
    expect((await laneRow('a')).stop).toBeNull();
    await refuse('unclear');
    expect((await laneRow('a')).stop).toBe('failed');
  });
});

describe('a lane that is compared with its chain', () => {
  const recorded = (from: number, at = 't', to = from, digest = digestOf(from)) => ({
    from,
    to,
    digest,
    transaction: at,
  });
  const compare = (...ranges: ReturnType<typeof recorded>[]) =>
    transaction(db, (trx) => compareLane(trx, { deployment: 'a', chain }, signer, ranges));
  const taken = async () => {
    const { rows } = await sql<{ range: number[]; transaction: string }>`
      select array[from_number, to_number] as range, transaction from attempts order by id`.execute(db);
    return rows.map(({ range, transaction: at }) => [...range.map(Number), at]);
  };

  it('takes over what it finds, the pushes of one transaction as one submission', async () => {
    await lane('a', 5);
    expect(await compare(recorded(1, 's'), recorded(2, 't'), recorded(3, 't'))).toBe('more');
    expect(await taken()).toEqual([
      [1, 1, 's'],
      [2, 3, 't'],
    ]);
    expect(await laneRow('a')).toMatchObject({ sent_number: 3, stop: null });
    expect(await compare()).toBe('equal');
  });

  it('stops at another digest, and takes over what comes before', async () => {
    await lane('a', 3);
    expect(await compare(recorded(1), recorded(2, 'u', 2, digestOf(9)), recorded(3))).toBe('ahead');
    expect(await laneRow('a')).toMatchObject({ sent_number: 1, stop: 'chain_ahead' });
  });

  it('stops where the chain leaves a number out', async () => {
    await lane('a', 3);
    expect(await compare(recorded(2))).toBe('ahead');
    expect(await laneRow('a')).toMatchObject({ sent_number: 0, stop: 'chain_ahead' });
  });

  it('waits for the journal, where that has not been read as far', async () => {
    await lane('a', 1);
    expect(await compare(recorded(1), recorded(2))).toBe('more');
    expect(await compare(recorded(2))).toBe('unread');
    expect(await laneRow('a')).toMatchObject({ sent_number: 1, stop: null });
  });
});

it('a transaction that waits for earlier ones says for how many, once that is no matter of seconds', async () => {
  await lane('a', 1);
  await claim(7, 'a');
  const status: PushStatus = 'submitted';
  await db.updateTable('pushes').set({ status }).execute();
  const errorOf = async () => {
    const { rows } = await listPushes(db, 'a', {}, { page: 1, limit: 10 });
    const [record] = rows.map((row) => toPushRecord(row, undefined));
    return record?.error;
  };
  const count = (nonce: number, of = signer) =>
    sql`insert into chains (name, signer, nonce) values (${chain}, ${of}, ${nonce})
      on conflict (name) do update set signer = excluded.signer, nonce = excluded.nonce`.execute(db);
  await count(5);
  expect(await errorOf()).toBeNull();
  await sql`update attempts set created_at = now() - interval '11 seconds'`.execute(db);
  expect(await errorOf()).toEqual({
    code: 'earlier_transactions',
    detail:
      'A chain includes the transactions of a signer in their order; 2 before this one are in no block yet.',
  });
  await count(7);
  expect(await errorOf()).toBeNull();
  await count(5, 'another signer');
  expect(await errorOf()).toBeNull();
});

it('a lane that stands still counts as stopped, also where its chain lacks what was on it', async () => {
  for (const name of ['a', 'b', 'c']) await lane(name, 1);
  const set = (deployment: string, row: { stop: string } | { waits_for: string }) =>
    db.updateTable('lanes').set(row).where('deployment', '=', deployment).execute();
  await set('a', { stop: 'failed' });
  await set('b', { waits_for: 'chain_behind' });
  await set('c', { waits_for: 'quota_exceeded' });
  expect(await backlogOf(db, chain)).toMatchObject({ pushes: 3, stopped: 2 });
});

describe('accounts that are compared', () => {
  const stateOf = (accountId: number, revision = 1) => ({
    ...{ accountId, disabled: false, quotas: { pushesPerDay: 5 }, revision },
  });
  /** A row that was locked or written again has an `xmax`, or another place. */
  const rows = async () =>
    (
      await sql`select account_id, ctid::text, xmax::text, pushes_per_day, revision, disabled
        from accounts order by account_id`.execute(db)
    ).rows;

  it('are written where they have news, and nowhere else', async () => {
    await storeAccounts(
      db,
      [1, 2, 3].map((id) => stateOf(id, 2)),
    );
    await sql`update accounts set disabled = true where account_id = 3`.execute(db);
    const before = await rows();
    await storeAccounts(db, [stateOf(1, 2), stateOf(2, 1), stateOf(3, 2), stateOf(4)]);
    const after = await rows();
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    // As a process of the release before stores it.
    expect(after[2]).toMatchObject({ account_id: 3, disabled: false });
    expect(after[3]).toMatchObject({ account_id: 4, pushes_per_day: 5, revision: 1 });
  });

  it('have their lanes tried again that wait for a quota, but for those that are being tried', async () => {
    for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) {
      await lane(name, 1);
      await db
        .insertInto('deployments')
        .values({ address: name, account_id: at + 1 })
        .execute();
    }
    await sql`update lanes set waits_for = 'quota_exceeded', wait_until = now() + interval '1 hour'`.execute(
      db,
    );
    await sql`update lanes set waits_for = 'chain_behind' where deployment = 'c'`.execute(db);
    await transaction(db, async (trx) => {
      await sql`select from lanes where deployment = 'b' for update`.execute(trx);
      await storeAccounts(
        db,
        [1, 2, 3].map((id) => stateOf(id)),
      );
    });
    expect(await due()).toEqual(['a']);
  });

  it('do not have lanes tried again that would wait anew, which would keep others from their turns', async () => {
    const names = ['x1', 'x2', 'x3', 'y'];
    for (const name of names) {
      await lane(name, 1);
      await db
        .insertInto('deployments')
        .values({ address: name, account_id: name === 'y' ? 8 : 7 })
        .execute();
    }
    const of = (accountId: number, pushesPerDay: number, revision = 1) => ({
      ...{ accountId, disabled: false, quotas: { pushesPerDay }, revision },
    });
    await storeAccounts(db, [of(7, 0), of(8, 0)]);
    await sql`update lanes set waits_for = 'quota_exceeded', wait_until = now()`.execute(db);
    // One turn is enough for all of an account, and for none of another.
    await claim(5, 'x2');
    expect(await due()).toEqual(['y']);
    await claim(6, 'y');
    await storeAccounts(db, [of(7, 0), of(8, 0)]);
    expect(await due()).toEqual([]);
    await storeAccounts(db, [of(7, 1, 2), of(8, 0)]);
    expect(await due()).toEqual(['x1', 'x2', 'x3']);
  });
});

/** The lanes that may have a turn. */
async function due(): Promise<string[]> {
  const rows = await db
    .selectFrom('lanes')
    .select('deployment')
    .where(sql<boolean>`wait_until <= now()`)
    .execute();
  return rows.map(({ deployment }) => deployment).toSorted();
}
