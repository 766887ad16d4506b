import type { ChainView } from '../chains/chain-port.js';
import type { Db, Trx } from '../database/schema.js';
import {
  type Attempt,
  bury,
  lockLane,
  noteSent,
  outgoingPushes,
  reopen,
  storeInclusion,
  storeTransaction,
  tracesOf,
} from './attempt-store.js';
import { type ChainLease, fenced } from './chain-lease.js';
import type { ChainSenderOptions } from './chain-sender.js';
import { failAttempt, forgetFailures } from './lane-failure.js';
import type { Step } from './next-step.js';
import { publishChanges } from './publish-changes.js';

/** What the sender of a chain decides, or has to know, while steps are carried out. */
export interface StepsSurroundings {
  /** Whether the chain can be used at present. A replacement is signed in any case. */
  readonly maySign: () => boolean;
  /** The lane's place on the chain has to be looked at again before it sends. */
  readonly onDoubt: (deployment: string) => void;
  readonly onUnaffordable: () => void;
}

/** Carries out what `nextStep` decides for one attempt. What is sent was stored before, in a transaction of its own. */
export function createAttemptSteps(
  { db, chain, port, owner, clock, signals, onChanged }: ChainSenderOptions,
  { maySign, onDoubt, onUnaffordable }: StepsSurroundings,
) {
  const { name } = chain;

  const inLane = (lease: ChainLease, attempt: Attempt, work: (trx: Trx) => Promise<void>) =>
    fenced(db, lease, owner, async (trx) => {
      await lockLane(trx, attempt.deployment, name);
      await work(trx);
      await publishChanges(trx, { chain: name, explorerUrl: chain.explorerUrl }, attempt);
    }).then(onChanged);

  const fail = (trx: Trx, attempt: Attempt, reason: string) =>
    failAttempt(trx, name, attempt, { reason, retryMs: port.patience.retryMs });

  /** Makes a step a part of the traces of what it pushes. */
  const traced = <T>(step: string, attempt: Attempt, work: () => Promise<T>) =>
    signals.traced(`${step} pushes to ${name}`, () => tracesOf(db, attempt.id), work);

  const send = (lease: ChainLease, attempt: Attempt, signal: AbortSignal) =>
    traced('send', attempt, () => sendNewest(lease, attempt, signal));

  const sendNewest = async (lease: ChainLease, attempt: Attempt, signal: AbortSignal) => {
    const newest = attempt.transactions.at(-1);
    if (newest === undefined) return;
    const outcome = await port.send(newest, signal);
    signals.sent(name, outcome.kind);
    if (outcome.kind === 'refused') {
      onDoubt(attempt.deployment);
      return inLane(lease, attempt, (trx) => fail(trx, attempt, outcome.reason));
    }
    if (outcome.kind === 'unaffordable') onUnaffordable();
    await noteSent(db, name, [newest.id], new Date(clock.now()));
  };

  const sign = (lease: ChainLease, attempt: Attempt, view: ChainView, signal: AbortSignal) =>
    traced('sign', attempt, () => signNext(lease, attempt, view, signal));

  const signNext = async (lease: ChainLease, attempt: Attempt, view: ChainView, signal: AbortSignal) => {
    const range = await outgoingPushes(db, { deployment: attempt.deployment, chain: name }, attempt);
    const parcel = { deployment: attempt.deployment, pushes: range };
    const failures = await failuresOf(db, attempt.deployment, name);
    const objection = failures > 0 ? await port.rehearse(parcel, signal) : null;
    if (objection !== null) {
      onDoubt(attempt.deployment);
      await inLane(lease, attempt, (trx) => fail(trx, attempt, objection));
      return undefined;
    }
    const terms = { nonce: attempt.nonce, view, replaced: attempt.transactions, gasFactor: 1 + failures };
    const made = await port.sign(parcel, terms, signal);
    if (made === null) {
      signals.feeCapped(name);
      return undefined;
    }
    const at = clock.now();
    await inLane(lease, attempt, (trx) => storeTransaction(trx, name, attempt.id, made, new Date(at)));
    const stored = { ...made, createdAt: at, sentAt: null };
    return { ...attempt, transactions: [...attempt.transactions, stored] };
  };

  const carryOut = async (
    lease: ChainLease,
    attempt: Attempt,
    step: Step,
    view: ChainView,
    signal: AbortSignal,
  ) => {
    switch (step.kind) {
      case 'wait':
        return;
      case 'note':
        signals.included(name, step.inclusion.depth, attempt.to - attempt.from + 1);
        return inLane(lease, attempt, async (trx) => {
          await storeInclusion(trx, attempt.id, step.inclusion);
          await forgetFailures(trx, attempt.deployment, name);
        });
      case 'reopen':
        signals.reorganized(name);
        await inLane(lease, attempt, (trx) => reopen(trx, attempt.id));
        return send(lease, attempt, signal);
      case 'lost':
        onDoubt(attempt.deployment);
        return inLane(lease, attempt, (trx) => bury(trx, attempt, name, null));
      case 'failed':
        onDoubt(attempt.deployment);
        return inLane(lease, attempt, (trx) => fail(trx, attempt, step.reason));
      case 'resend':
        return send(lease, attempt, signal);
      case 'sign':
      case 'replace': {
        const isAllowed = maySign() || step.kind === 'replace';
        const next = isAllowed ? await sign(lease, attempt, view, signal) : undefined;
        return send(lease, next ?? attempt, signal);
      }
    }
  };

  return { carryOut, sign, send };
}

async function failuresOf(db: Db, deployment: string, chain: string): Promise<number> {
  const lane = await db
    .selectFrom('lanes')
    .select('failures')
    .where('deployment', '=', deployment)
    .where('chain', '=', chain)
    .executeTakeFirst();
  return lane?.failures ?? 0;
}
