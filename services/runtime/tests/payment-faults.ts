import { type OfferedPayment, ServiceError } from '@orrery/contracts';
import { expect, vi } from 'vitest';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import type { Batch } from '../src/store/commit/batch.js';
import type { CommitBatch } from '../src/store/commit/commit-statement.js';
import { incrementVersion } from './fake-catalog.js';
import { lookOnPayments, sendsTo } from './paying.js';
import { type Conduct, createPaymentWorld, paymentFor, RECEIVER } from './payment-world.js';
import { type House, plantDeployment, refusalOf } from './running-runtime.js';

/**
 * Where the owner stops. A commit that it was about to make arrives when another process owns the deployment; a call that
 * it was about to make, or whose reply it waits for, goes on then.
 */
export const STOPS = [
  'before it is reserved',
  'before it is staged',
  'before it is settling',
  'before the call',
  'after the charge',
  'before the end',
  'before it awaits',
  'before it is paid',
  'before the paid end',
] as const;
export type Stop = (typeof STOPS)[number];

/** Where the first settlement is unclear, and the next one charges. */
const AFTER_UNCLEAR: readonly Stop[] = ['before it awaits', 'before it is paid', 'before the paid end'];

export interface Trial {
  readonly stop: Stop;
  /** How the facilitator treats the next owner's settlements. */
  readonly conduct: Conduct;
  /** How it treats a call that the first owner makes too late. */
  readonly late: Conduct;
}

/** What became of one payment, once nothing is under way any more. */
export interface Verdict {
  readonly charges: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly status: string;
  /** An execution without a charge, and a charge without an execution. */
  readonly unpaid: boolean;
  readonly unserved: boolean;
  /** Whether the status fits: of a charge without an execution it says that it is due for a refund. */
  readonly isCounted: boolean;
  /** Whether the one pending timer is the one that the execution set, where it succeeded, and else the one from before. */
  readonly isTimed: boolean;
}

const settleMs = 300;

/** Runs trials in which the owner stops somewhere, another one goes on, and the first one wakes up again. */
export async function preparePaymentFaults(house: House) {
  const { query, makeDue, reconcile } = await lookOnPayments(house);
  const executionSettings = { visibility: 'public' as const, priceUsd: 0.01 };
  const followUps = [{ event: 'priced', after: 'PT1H', key: 'next' }];
  house.catalog.plantVersion({ ...incrementVersion, event: 'priced', executionSettings, followUps });

  return async (trial: Trial): Promise<Verdict> => {
    const { world, parties, charges } = createPaymentWorld();
    const common = { paymentParties: parties, payments: { ...TEST_NETWORKS, settleMs } };
    const stopped = stopAt(trial.stop);
    world.conduct = 'settles';
    let isStopped = false;
    world.beforeSettling = async (call) => {
      if (!isStopped && AFTER_UNCLEAR.includes(trial.stop))
        world.conduct = call === 1 ? 'answers 500' : 'settles';
      if (call > 1 || trial.stop !== 'before the call') return;
      await stopped.here();
      world.conduct = trial.late;
    };
    world.beforeReply = async (call) => {
      if (call === 1 && trial.stop === 'after the charge') await stopped.here();
    };
    // It does not look at its leases meanwhile, as a stopped process does not.
    const first = await house.boot({ ...common, leaseTtlMs: 600_000, aroundCommit: stopped.aroundCommit });
    const planted = await plantDeployment(house, {
      bindings: [{ event: 'priced', eventVersion: 1 }],
      payToAddress: RECEIVER,
    });
    const { params, deployment } = planted;
    await house.call('deployments.publish', { params });
    const before = { event: 'priced', input: { id: 'a' }, after: 'PT2H', key: 'next' };
    await house.call('deployments.execute', { params, body: before });
    const at = Date.now();
    const sends = sendsTo(house, deployment.address);
    const send = (payment: OfferedPayment | null, patience: number) => sends({ at, payment, patience });
    const { facts } = await refusalOf(send(null, 240_000));
    const payment = paymentFor(facts as never);
    const given = send(payment, 20_000).catch(() => undefined);
    await stopped.isThere;
    isStopped = true;
    if (trial.stop !== 'before the call' && trial.stop !== 'after the charge') world.conduct = trial.conduct;
    await query('delete from members where instance = $1', [first.instance]);
    await query('update partitions set owner = null, expires_at = null');
    const heir = await house.boot(common);
    world.conduct = trial.conduct;
    await ended(() => send(payment, 2000));
    stopped.wakeUp();
    await given;
    await first[Symbol.asyncDispose]();
    world.isOver = true;
    await vi.waitFor(async () => {
      await makeDue();
      await reconcile(heir.context.payments);
      expect(await query('select from payments where check_at is not null')).toEqual([]);
      expect(await query('select from runs where ended_at is null')).toEqual([]);
    });
    await heir[Symbol.asyncDispose]();
    return verdictOf(query, deployment.id, [...charges.values()].flat().length);
  };
}

type Query = Awaited<ReturnType<typeof lookOnPayments>>['query'];

async function verdictOf(query: Query, deploymentId: number, charged: number): Promise<Verdict> {
  const [payment] = await query<{ status: string; transaction: string | null; reason: string | null }>(
    'select status, transaction, reason from payments where deployment_id = $1',
    [deploymentId],
  );
  const entries = await query<{ status: string; n: number }>(
    "select status, count(*)::int as n from journal where deployment_id = $1 and kind = 'execution' group by status",
    [deploymentId],
  );
  const timers = await query<{ kind: string }>(
    'select j.kind from timers t join journal j on j.deployment_id = t.deployment_id and j.seq = t.set_seq where t.deployment_id = $1',
    [deploymentId],
  );
  const count = (status: string) => entries.find((one) => one.status === status)?.n ?? 0;
  const [succeeded, failed] = [count('succeeded'), count('failed')];
  const { status = 'none', transaction = null } = payment ?? {};
  const unpaid = succeeded > 0 && charged === 0;
  const unserved = succeeded === 0 && charged > 0;
  const isCounted = unserved
    ? status === 'refund_due' && transaction !== null
    : succeeded > 0
      ? status === 'settled'
      : status === 'refused' || status === 'released' || status === 'none';
  const setter = succeeded > 0 ? 'execution' : 'timer_set';
  const isTimed = timers.length === 1 && timers[0]?.kind === setter;
  return { charges: charged, succeeded, failed, status, unpaid, unserved, isCounted, isTimed };
}

/** Repeats a request until the execution has ended, however it did, or awaits its payment. */
async function ended(send: () => Promise<unknown>): Promise<void> {
  await vi.waitFor(
    async () => {
      const error = await send().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      const code = error instanceof ServiceError ? error.code : undefined;
      expect(['request_in_flight', 'deadline_exceeded', 'unavailable']).not.toContain(code);
    },
    { interval: 50 },
  );
}

/** Of a commit: to which of the stops it belongs. */
function stopOf({ payments, runs }: Batch): Stop | undefined {
  const [run] = runs.values();
  if (run?.columns.state === 'awaiting_payment') return 'before it awaits';
  if (run?.columns.state === 'paid') return 'before it is paid';
  const [payment] = payments.values();
  if (payment === undefined || payment.kind === 'release') return undefined;
  if (payment.kind === 'reserve') return 'before it is reserved';
  const { status } = payment.columns ?? {};
  if (status === 'staged') return 'before it is staged';
  return status === 'settling' ? 'before it is settling' : 'before the end';
}

/** Stops a process once. */
function stopAt(stop: Stop) {
  let wakeUp = () => {};
  let arrived = () => {};
  let isOver = false;
  const isThere = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    wakeUp = resolve;
  });
  const stopAtCommit = stop === 'before the paid end' ? 'before the end' : stop;
  const here = async () => {
    if (isOver) return;
    isOver = true;
    arrived();
    await gate;
  };
  return {
    isThere,
    here,
    wakeUp: () => wakeUp(),
    aroundCommit:
      (commit: CommitBatch): CommitBatch =>
      async (batch) => {
        if (stopOf(batch) === stopAtCommit) await here();
        return commit(batch);
      },
  };
}
