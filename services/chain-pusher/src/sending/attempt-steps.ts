import type { ChainView } from '../chains/chain-port.js';
import { ServersAway } from '../chains/json-rpc.js';
import type { Db, Trx } from '../database/schema.js';
import {
  type Attempt,
  bury,
  lockLane,
  noteProblem,
  noteSent,
  outgoingPushes,
  reopen,
  storeInclusion,
  storeTransaction,
  tracesOf,
} from './attempt-store.js';
import { type ChainLease, fenced } from './chain-lease.js';
import type { ChainSenderOptions } from './chain-sender.js';
import { type Failure, failAttempt, forgetFailures } from './lane-failure.js';
import type { Step } from './next-step.js';
import { publishChanges } from './publish-changes.js';

/** Failures after which a push gets more gas, each time as much again. */
const MAX_GAS_STEPS = 4;

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
  { db, chain, port, owner, signals, onChanged }: ChainSenderOptions,
  { maySign, onDoubt, onUnaffordable }: StepsSurroundings,
) {
  const { name } = chain;

  const inLane = (lease: ChainLease, attempt: Attempt, work: (trx: Trx) => Promise<void>) =>
    fenced(db, lease, owner, async (trx) => {
      await lockLane(trx, attempt.deployment, name);
      await work(trx);
      await publishChanges(trx, { chain: name, explorerUrl: chain.explorerUrl }, attempt);
    }).then(onChanged);

  const { retryMs } = port.patience;
  const fail = (lease: ChainLease, attempt: Attempt, failure: Omit<Failure, 'retryMs'>) => {
    onDoubt(attempt.deployment);
    return inLane(lease, attempt, (trx) => failAttempt(trx, name, attempt, { ...failure, retryMs }));
  };
  const giveUp = (lease: ChainLease, attempt: Attempt) => {
    onDoubt(attempt.deployment);
    return inLane(lease, attempt, (trx) => bury(trx, attempt, name, null));
  };
  const isOwn = ({ signer }: Attempt) => signer === port.signer;

  /** Makes a step a part of the traces of what it pushes. */
  const traced = <T>(step: string, attempt: Attempt, work: () => Promise<T>) =>
    signals.traced(`${step} pushes to ${name}`, () => tracesOf(db, attempt.id), work);

  const send = (lease: ChainLease, attempt: Attempt, signal: AbortSignal) =>
    traced('send', attempt, () => sendNewest(lease, attempt, signal));

  const sendNewest = async (lease: ChainLease, attempt: Attempt, signal: AbortSignal) => {
    const newest = attempt.transactions.at(-1);
    if (newest === undefined) return;
    const outcome = await unlessItsOwn(port.send(newest, signal), signal);
    signals.sent(name, outcome.kind);
    if (outcome.kind !== 'sent' && outcome.kind !== 'spent') {
      // Nobody can sign or pay for it any more, and its pushes go on with the present signer.
      if (!isOwn(attempt) && port.takesRepetitions) return giveUp(lease, attempt);
      if (outcome.kind === 'refused') return fail(lease, attempt, outcome);
      if (outcome.kind === 'unclear') return setAside(lease, attempt, outcome.reason);
      if (outcome.kind === 'unaffordable' && isOwn(attempt)) onUnaffordable();
    }
    await noteSent(db, name, [newest.id]);
  };

  /** Nobody knows what becomes of it. Where it could have its effect twice, it stays open until it can have none. */
  const setAside = async (lease: ChainLease, attempt: Attempt, reason: string) => {
    if (port.takesRepetitions || attempt.transactions.length === 0)
      return fail(lease, attempt, { kind: 'unclear', reason });
    const problem = { code: 'push_unclear', detail: reason };
    await inLane(lease, attempt, (trx) => noteProblem(trx, attempt.id, problem));
    const ids = attempt.transactions.map(({ id }) => id);
    await noteSent(db, name, ids);
  };

  const sign = (lease: ChainLease, attempt: Attempt, view: ChainView, signal: AbortSignal) =>
    traced('sign', attempt, () => signNext(lease, attempt, view, signal));

  /** Resolves with the attempt, where it may be sent. */
  const signNext = async (lease: ChainLease, attempt: Attempt, view: ChainView, signal: AbortSignal) => {
    const range = await outgoingPushes(db, { deployment: attempt.deployment, chain: name }, attempt);
    const parcel = { deployment: attempt.deployment, pushes: range };
    const failures = await failuresOf(db, attempt.deployment, name);
    const gasFactor = 1 + Math.min(failures, MAX_GAS_STEPS);
    const terms = { nonce: attempt.nonce, view, replaced: attempt.transactions, gasFactor };
    const rehearsed = failures > 0 ? await unlessItsOwn(port.rehearse(parcel, signal), signal) : null;
    const made = rehearsed ?? (await unlessItsOwn(port.sign(parcel, terms, signal), signal));
    if (made === null) {
      signals.feeCapped(name);
      return attempt;
    }
    if (typeof made === 'string') {
      await fail(lease, attempt, { kind: 'refused', reason: made });
      return undefined;
    }
    if ('kind' in made) {
      await setAside(lease, attempt, made.reason);
      return undefined;
    }
    await inLane(lease, attempt, (trx) => storeTransaction(trx, name, attempt.id, made));
    const stored = { ...made, ageMs: 0, sentAgoMs: null };
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
        return giveUp(lease, attempt);
      case 'failed':
        return fail(lease, attempt, { kind: 'refused', reason: step.reason });
      case 'resend':
        return send(lease, attempt, signal);
      case 'sign':
      case 'replace': {
        const isAllowed = maySign() || step.kind === 'replace';
        const next = isAllowed ? await sign(lease, attempt, view, signal) : attempt;
        return next && send(lease, next, signal);
      }
    }
  };

  return { carryOut, sign, send };
}

/** What a call of the port resolves with. A failure that concerns neither the servers nor this process is the attempt's. */
const unlessItsOwn = <T>(asked: Promise<T>, signal: AbortSignal): Promise<T | Unclear> =>
  asked.catch((error: unknown): Unclear => {
    if (signal.aborted || error instanceof ServersAway) throw error;
    return { kind: 'unclear', reason: error instanceof Error ? error.message : 'an unknown failure' };
  });

interface Unclear {
  readonly kind: 'unclear';
  readonly reason: string;
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
