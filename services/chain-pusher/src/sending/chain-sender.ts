import type { PollOutcome } from '@orrery/service-kit';
import { type ChainCheck, type ChainView, ServersAway } from '../core/chains/chain-port.js';
import { nextStep } from '../core/submissions/next-step.js';
import type { Submission } from '../core/submissions/submission.js';
import {
  type ChainLease,
  fenced,
  holdLease,
  LeaseLost,
  noteSignerCount,
} from '../store/chains/chain-lease.js';
import { claimBatches } from '../store/lanes/claim-batches.js';
import { lanesWithWork } from '../store/lanes/lane-store.js';
import { fillGaps } from '../store/submissions/nonces.js';
import { submissionsUnderWay } from '../store/submissions/submission-store.js';
import { ChainAvailability } from './chain-availability.js';
import { ComparedLanes } from './compared-lanes.js';
import { findInclusions, viewChain } from './find-inclusions.js';
import type { ChainSenderOptions, Round } from './sender-options.js';
import { SubmissionSteps } from './submission-steps.js';
import { whileRenewed } from './while-renewed.js';

/** Transactions of one signer that may wait for their blocks; nodes keep 64 for an account at most. */
const MAX_OPEN = 16;
/** Submissions in blocks that are read in one round, from the oldest on. */
const MAX_WATCHED = 100;
/** How often submissions that are in a block are read until they are final, in milliseconds. */
const WATCH_MS = 5000;

/**
 * Sends what waits for one chain, and watches it until it is final. Of all processes only the holder of the chain's lease
 * does so. One round:
 *
 *   read the chain ─→ each submission under way: note its block, send it again, replace it, drop it
 *                  ─→ lanes with work: compare them with the chain, claim batches ─→ sign ─→ store ─→ send
 *
 * No transaction of the database is open during a call to the chain. What is sent was stored before, so a process that takes
 * over finds it.
 */
export class ChainSender {
  readonly #availability: ChainAvailability;
  readonly #lanes: ComparedLanes;
  readonly #steps: SubmissionSteps;
  /** When each empty transaction was made that fills a gap, by its nonce. */
  readonly #filledAt = new Map<number, number>();
  #epoch: number | undefined;
  /** The lease lasts until then, unless it is renewed. */
  #heldUntil = 0;
  /** Since when this process has sent to the chain. */
  #sendingSince = 0;
  #watchedAt = 0;

  constructor(private readonly options: ChainSenderOptions) {
    this.#availability = new ChainAvailability(options);
    this.#lanes = new ComparedLanes(options);
    this.#steps = new SubmissionSteps(options, this.#availability, this.#lanes);
  }

  /** What the chain was last found to be; undefined unless this process holds its lease. */
  get found(): ChainCheck | undefined {
    return this.options.clock.monotonic() < this.#heldUntil ? this.#availability.found : undefined;
  }

  async runOnce(signal: AbortSignal): Promise<PollOutcome> {
    const lease = await this.#takeLease();
    if (lease === undefined) return 'idle';
    try {
      const onRenewed = (until: number) => {
        this.#heldUntil = until;
      };
      await whileRenewed({ ...this.options, onRenewed }, lease, () => this.#send({ lease, signal }));
    } catch (error) {
      await this.#afterFailure(lease, error);
    }
    return 'idle';
  }

  async #afterFailure(lease: ChainLease, error: unknown): Promise<void> {
    const { chain } = lease;
    if (error instanceof LeaseLost)
      this.options.logger.warn({ chain }, 'another process has taken the chain');
    else if (error instanceof ServersAway) await this.#availability.noteAway(lease, error);
    else throw error;
  }

  async #takeLease(): Promise<ChainLease | undefined> {
    const { db, chain, owner, leaseTtlMs, clock } = this.options;
    // Before the lease of the database ends, whose time begins later.
    const until = clock.monotonic() + leaseTtlMs;
    const lease = await holdLease(db, chain.name, owner, leaseTtlMs);
    if (lease?.epoch !== this.#epoch) {
      this.#lanes.forgetAll();
      this.#availability.forget();
      this.#sendingSince = clock.monotonic();
    }
    this.#epoch = lease?.epoch;
    this.#heldUntil = until;
    return lease;
  }

  async #send(round: Round): Promise<void> {
    const { db, chain, clock, port } = this.options;
    const { name } = chain;
    await this.#availability.check(round);
    if (this.#availability.isAway) return;
    const isWatchDue = clock.monotonic() - this.#watchedAt >= Math.min(WATCH_MS, port.delays.resendMs);
    const watched = isWatchDue ? MAX_WATCHED : 0;
    const submissions = await submissionsUnderWay(db, name, { limit: MAX_OPEN * 2, watched });
    this.#availability.noteUnderWay(submissions);
    await this.#lanes.adopt(round);
    if (submissions.length === 0 && (await lanesWithWork(db, name, 1)).length === 0) return;
    const view = await this.#follow(round, submissions);
    await noteSignerCount(db, round.lease, port.signer, view.nonce);
    if (isWatchDue) this.#watchedAt = clock.monotonic();
    await this.#begin(round, view);
  }

  /** Brings each submission a step further. Resolves with the newest view of the chain. */
  async #follow({ lease, signal }: Round, submissions: readonly Submission[]): Promise<ChainView> {
    const { clock, port } = this.options;
    const first = await viewChain(port, submissions, signal);
    let views = first;
    const found = await findInclusions(port, submissions, first.own, signal);
    const holdingUp = new Set<string>();
    for (const submission of inNonceOrder(submissions)) {
      const { signer } = submission;
      const inclusion = found.get(submission);
      const isFirst = !holdingUp.has(signer);
      if (inclusion === undefined) holdingUp.add(signer);
      if (!found.has(submission)) continue;
      const sendingForMs = clock.monotonic() - this.#sendingSince;
      const stepBy = (view: ChainView) => {
        const context = { view, isFirst, isOwn: signer === port.signer, sendingForMs };
        return nextStep(submission, inclusion, context, port);
      };
      let step = stepBy(views.of(submission));
      // The chain may have taken blocks back between the view of it and the search for transactions.
      if (step.kind === 'drop' && views === first) {
        views = await viewChain(port, submissions, signal);
        step = stepBy(views.of(submission));
      }
      await this.#steps.carryOut({ lease, signal }, submission, step, views.of(submission));
    }
    return views.own;
  }

  /** Makes submissions of what waits, signs and sends them. */
  async #begin(round: Round, view: ChainView): Promise<void> {
    const { db, chain, port, signals } = this.options;
    const { name } = chain;
    if (view.isTooExpensive) signals.feeCapped(name);
    if (view.isTooExpensive || !this.#availability.isUsable) return;
    const open = await submissionsUnderWay(db, name, { limit: MAX_OPEN, watched: 0 });
    const free = MAX_OPEN - open.length;
    const deployments = free === 0 ? [] : await this.#lanes.ready(round, free);
    if (deployments.length === 0 && open.length === 0) return;
    const terms = { chain: name, signer: port.signer, nonce: view.nonce };
    await fenced(db, round.lease, async (trx) => {
      if (deployments.length > 0) await claimBatches(trx, terms, deployments);
      await fillGaps(trx, terms, (nonce) => this.#mayFill(nonce));
    });
    const submissions = await submissionsUnderWay(db, name, { limit: MAX_OPEN * 2, watched: 0 });
    const isNew = ({ signer, transactions }: Submission) =>
      signer === port.signer && transactions.length === 0;
    for (const submission of inNonceOrder(submissions.filter(isNew)))
      await this.#steps.signAndSend(round, submission, view);
  }

  /** An empty transaction that was refused is made again only after a pause. */
  #mayFill(nonce: number): boolean {
    const { clock, port } = this.options;
    const now = clock.monotonic();
    if (now - (this.#filledAt.get(nonce) ?? 0) < port.delays.resendMs) return false;
    if (this.#filledAt.size > MAX_OPEN) this.#filledAt.clear();
    this.#filledAt.set(nonce, now);
    return true;
  }
}

const inNonceOrder = (submissions: readonly Submission[]): Submission[] =>
  submissions.toSorted((a, b) => (a.nonce ?? 0) - (b.nonce ?? 0) || a.id - b.id);
