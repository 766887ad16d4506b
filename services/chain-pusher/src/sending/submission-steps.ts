import type { ChainView, SendOutcome, SignedTransaction } from '../core/chains/chain-port.js';
import { ServersAway, SignerCannotPay } from '../core/chains/chain-port.js';
import type { Step } from '../core/submissions/next-step.js';
import type { Submission } from '../core/submissions/submission.js';
import { fenced } from '../store/chains/chain-lease.js';
import { type Failure, failSubmission, failuresOf, forgetFailures } from '../store/lanes/lane-failure.js';
import { lockLane } from '../store/lanes/lane-store.js';
import { publishChanges } from '../store/pushes/push-store.js';
import {
  dropSubmission,
  noteProblem,
  noteSent,
  outgoingPushes,
  reopen,
  storeInclusion,
  storeTransaction,
  tracesOf,
} from '../store/submissions/submission-store.js';
import type { Trx } from '../store/tables/schema.js';
import type { ChainAvailability } from './chain-availability.js';
import type { ComparedLanes } from './compared-lanes.js';
import type { ChainSenderOptions, Round } from './sender-options.js';

/** Failures after which a push gets more gas, each time as much again. */
const MAX_GAS_STEPS = 4;

/** What is said of a push whose transaction the signer cannot pay for. */
const UNAFFORDABLE = {
  code: 'chain_unavailable',
  detail: "The signer's balance does not cover the transaction. It is sent again.",
};

/** Carries out what `nextStep` decides for one submission. What is sent was stored before, in a transaction of its own. */
export class SubmissionSteps {
  constructor(
    private readonly options: ChainSenderOptions,
    private readonly availability: Pick<ChainAvailability, 'isUsable' | 'noteUnaffordable' | 'noteTaken'>,
    private readonly lanes: Pick<ComparedLanes, 'compareAgain'>,
  ) {}

  async carryOut(round: Round, submission: Submission, step: Step, view: ChainView): Promise<void> {
    const { chain, signals } = this.options;
    switch (step.kind) {
      case 'wait':
        return;
      case 'note':
        signals.included(chain.name, step.inclusion.depth, submission.to - submission.from + 1);
        return this.#write(round, submission, async (trx) => {
          await storeInclusion(trx, submission, step.inclusion);
          await forgetFailures(trx, submission);
        });
      case 'reopen':
        signals.reorganized(chain.name);
        await this.#write(round, submission, (trx) => reopen(trx, submission));
        return this.send(round, submission);
      case 'drop':
        return this.#drop(round, submission);
      case 'failed':
        return this.#fail(round, submission, { kind: 'refused', reason: step.reason });
      case 'resend':
        return this.send(round, submission);
      case 'replace':
        return this.signAndSend(round, submission, view);
      case 'sign':
        return this.availability.isUsable
          ? this.signAndSend(round, submission, view)
          : this.send(round, submission);
    }
  }

  async signAndSend(round: Round, submission: Submission, view: ChainView): Promise<void> {
    const signed = await this.sign(round, submission, view);
    if (signed !== undefined) await this.send(round, signed);
  }

  /** Resolves with the submission, where it may be sent. */
  sign(round: Round, submission: Submission, view: ChainView): Promise<Submission | undefined> {
    return this.#traced('sign', submission, async () => {
      const made = await this.#signed(round, submission, view);
      if (made === null) {
        this.options.signals.feeCapped(submission.chain);
        return submission;
      }
      if ('kind' in made) {
        await this.#afterSigning(round, submission, made);
        return undefined;
      }
      await this.#write(round, submission, (trx) => storeTransaction(trx, submission, made));
      const stored = { ...made, ageMs: 0, sentAgoMs: null, weighedAgoMs: null };
      return { ...submission, transactions: [...submission.transactions, stored] };
    });
  }

  /** The next transaction of the submission, why there is none, or null where it would cost too much. */
  async #signed(
    { signal }: Round,
    submission: Submission,
    view: ChainView,
  ): Promise<SignedTransaction | NotSigned | null> {
    const { db, port } = this.options;
    const { deployment, nonce, transactions } = submission;
    const batch = { deployment, pushes: await outgoingPushes(db, submission) };
    const failures = await failuresOf(db, submission);
    if (failures > 0) {
      const reason = await orUnclear(port.simulate(batch, signal), signal);
      if (typeof reason === 'string') return { kind: 'refused', reason };
      if (reason !== null) return reason;
    }
    const gasFactor = 1 + Math.min(failures, MAX_GAS_STEPS);
    const terms = { nonce, view, replaced: transactions, gasFactor };
    return orUnclear(orUnaffordable(port.sign(batch, terms, signal)), signal);
  }

  #afterSigning(round: Round, submission: Submission, made: NotSigned): Promise<void> {
    if (made.kind === 'unaffordable') return this.availability.noteUnaffordable(round.lease);
    if (made.kind === 'refused') return this.#fail(round, submission, made);
    return this.#keepInDoubt(round, submission, made.reason);
  }

  /** Sends the newest transaction of the submission. */
  send(round: Round, submission: Submission): Promise<void> {
    return this.#traced('send', submission, async () => {
      const { port, signals } = this.options;
      const newest = submission.transactions.at(-1);
      if (newest === undefined) return;
      const outcome = await orUnclear(port.send(newest, round.signal), round.signal);
      signals.sent(submission.chain, outcome.kind);
      await this.#afterSending(round, submission, newest, outcome);
    });
  }

  async #afterSending(round: Round, submission: Submission, { id }: SignedTransaction, outcome: SendOutcome) {
    const { db, port } = this.options;
    const isOwn = submission.signer === port.signer;
    if (outcome.kind !== 'sent' && outcome.kind !== 'spent') {
      // Nobody can sign or pay for it any more, and its pushes go on with the present signer.
      if (!isOwn && port.takesRepetitions) return this.#drop(round, submission);
      if (outcome.kind === 'refused') return this.#fail(round, submission, outcome);
      if (outcome.kind === 'unclear') return this.#keepInDoubt(round, submission, outcome.reason);
      if (outcome.kind === 'untaken') await this.#noteUnclear(round, submission, outcome.reason);
      if (outcome.kind === 'unaffordable' && isOwn) await this.#noteUnaffordable(round, submission);
    }
    if (outcome.kind === 'sent' && this.availability.noteTaken(submission))
      await this.#write(round, submission, (trx) => noteProblem(trx, submission, null));
    await noteSent(db, submission.chain, [id], outcome.kind === 'sent' || outcome.kind === 'underpriced');
  }

  async #noteUnaffordable(round: Round, submission: Submission): Promise<void> {
    await this.availability.noteUnaffordable(round.lease, submission);
    await this.#write(round, submission, (trx) => noteProblem(trx, submission, UNAFFORDABLE));
  }

  #noteUnclear(round: Round, submission: Submission, reason: string): Promise<void> {
    const problem = { code: 'push_unclear', detail: reason };
    return this.#write(round, submission, (trx) => noteProblem(trx, submission, problem));
  }

  /** Its outcome is unknown. Where it could have its effect twice, it stays open until it can have none. */
  async #keepInDoubt(round: Round, submission: Submission, reason: string): Promise<void> {
    const { db, port } = this.options;
    if (port.takesRepetitions || submission.transactions.length === 0)
      return this.#fail(round, submission, { kind: 'unclear', reason });
    await this.#noteUnclear(round, submission, reason);
    const ids = submission.transactions.map(({ id }) => id);
    await noteSent(db, submission.chain, ids, false);
  }

  #fail(round: Round, submission: Submission, failure: Omit<Failure, 'retryMs'>): Promise<void> {
    const { retryMs } = this.options.port.delays;
    this.lanes.compareAgain(submission.deployment);
    return this.#write(round, submission, (trx) => failSubmission(trx, submission, { ...failure, retryMs }));
  }

  #drop(round: Round, submission: Submission): Promise<void> {
    this.lanes.compareAgain(submission.deployment);
    return this.#write(round, submission, (trx) => dropSubmission(trx, submission, null));
  }

  /** A change of the submission and its pushes, which is published. */
  async #write({ lease }: Round, submission: Submission, work: (trx: Trx) => Promise<void>): Promise<void> {
    const { db, chain, onChanged } = this.options;
    await fenced(db, lease, async (trx) => {
      await lockLane(trx, submission);
      await work(trx);
      await publishChanges(trx, chain, submission);
    });
    onChanged();
  }

  /** Makes a step a part of the traces of what it pushes. */
  #traced<T>(step: string, submission: Submission, work: () => Promise<T>): Promise<T> {
    const { db, signals } = this.options;
    return signals.traced(`${step} pushes to ${submission.chain}`, () => tracesOf(db, submission), work);
  }
}

/** What a call of the port resolves with. A failure that concerns neither the servers nor this process is the submission's. */
const orUnclear = <T>(asked: Promise<T>, signal: AbortSignal): Promise<T | Unclear> =>
  asked.catch((error: unknown): Unclear => {
    if (signal.aborted || error instanceof ServersAway) throw error;
    return { kind: 'unclear', reason: error instanceof Error ? error.message : 'an unknown failure' };
  });

const orUnaffordable = <T>(signed: Promise<T>): Promise<T | Unaffordable> =>
  signed.catch((error: unknown) => {
    if (error instanceof SignerCannotPay) return { kind: 'unaffordable' as const };
    throw error;
  });

/** Why there is no transaction of a submission. */
type NotSigned = Omit<Failure, 'retryMs'> | Unaffordable;

interface Unaffordable {
  readonly kind: 'unaffordable';
}

interface Unclear {
  readonly kind: 'unclear';
  readonly reason: string;
}
