import type { ChainConfig } from '@orrery/contracts';
import type { Clock, Logger, PollOutcome } from '@orrery/service-kit';
import type { ChainCheck, ChainPort, ChainView, Inclusion } from '../chains/chain-port.js';
import { ServersAway } from '../chains/json-rpc.js';
import type { Db } from '../database/schema.js';
import type { ChainSignals } from '../signals.js';
import { adoptLane, openAdoptions } from './adopt-lane.js';
import { createAttemptSteps } from './attempt-steps.js';
import { type Attempt, attemptsUnderWay } from './attempt-store.js';
import { type ChainLease, fenced, holdLease, LeaseLost } from './chain-lease.js';
import { noteChainState, noteSignerCount } from './chain-state.js';
import { claimParcels, fillGaps, lanesWithWork, putBack } from './claim-parcels.js';
import { type Comparison, compareLane } from './compare-lane.js';
import { nextStep } from './next-step.js';

export interface ChainSenderOptions {
  readonly db: Db;
  readonly chain: ChainConfig;
  readonly port: ChainPort;
  /** Names this process among the chain-pushers. */
  readonly owner: string;
  readonly leaseTtlMs: number;
  /** Of the inbox: whose dead letters say that a journal lost entries. */
  readonly consumer: string;
  /** Lets the intake of a deployment go on after the entries that its journal lost. */
  readonly skipLost: (deployment: string) => Promise<unknown>;
  /** Publishes what was written to the outbox. */
  readonly onChanged: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signals: ChainSignals;
}

/** Transactions of one signer that may wait for their blocks; nodes keep 64 for an account at most. */
const MAX_OPEN = 16;
/** Attempts in blocks that are looked at in one round, from the oldest on. */
const MAX_WATCHED = 100;
/** Lanes remembered as compared. One that is forgotten costs a look at the chain. */
const MAX_LEVEL = 50_000;
/** How often attempts that are in a block are looked at until they are final, and the chain's state, in milliseconds. */
const WATCH_MS = 5000;
const CHECK_MS = 15_000;

/**
 * Sends what waits for one chain, and watches it until it is final. Of all processes only the holder of the chain's lease
 * does so. One round:
 *
 *   look at the chain ─→ each attempt under way: note its block, send it again, replace it, give it up
 *                     ─→ lanes with work: compare them with the chain, claim parcels ─→ sign ─→ store ─→ send
 *
 * No transaction of the database is open during a call to the chain. What is sent was stored before, so a process that takes
 * over finds it.
 */
export function createChainSender(options: ChainSenderOptions) {
  const { db, chain, port, owner, clock, logger, signals } = options;
  const { name } = chain;
  /** Lanes that were compared with the chain since this process took the lease, or lost an attempt. */
  const level = new Set<string>();
  /** When each empty transaction was made that fills a gap, by its nonce. */
  const filledAt = new Map<number, number>();
  let epoch: number | undefined;
  let since = 0;
  let usable = false;
  let isAway = false;
  let checkedAt = 0;
  let watchedAt = 0;

  const { carryOut, sign, send } = createAttemptSteps(options, {
    maySign: () => usable,
    onDoubt: (deployment) => level.delete(deployment),
    onUnaffordable: () => {
      // Looked at before anything more is signed.
      checkedAt = 0;
      usable = false;
    },
  });

  const takeLease = async (): Promise<ChainLease | undefined> => {
    const lease = await holdLease(db, name, owner, options.leaseTtlMs);
    if (lease?.epoch !== epoch) {
      level.clear();
      checkedAt = 0;
      since = clock.monotonic();
    }
    epoch = lease?.epoch;
    return lease;
  };

  const check = async (lease: ChainLease, signal: AbortSignal) => {
    if (clock.monotonic() - checkedAt < (usable ? CHECK_MS : 3 * port.patience.retryMs)) return;
    const found = await port.check(signal).catch((error: Error) => {
      isAway = error instanceof ServersAway;
      return { reason: error.message, balance: null };
    });
    signal.throwIfAborted();
    if (found.balance !== null) isAway = false;
    await noteState(lease, found);
  };

  const noteState = async (lease: ChainLease, found: ChainCheck) => {
    checkedAt = clock.monotonic();
    if (usable !== (found.reason === null))
      logger.warn({ chain: name, reason: found.reason }, 'chain state changed');
    usable = found.reason === null;
    signals.checked(name, found);
    await noteChainState(db, lease, owner, found.reason);
  };

  /** The chain as the signers of these attempts see it: one that was replaced has a count of its own. */
  const look = async (attempts: readonly Attempt[], signal: AbortSignal): Promise<Look> => {
    const own = await port.view(signal);
    const views = new Map([[port.signer, own]]);
    for (const { signer } of attempts) {
      if (views.has(signer)) continue;
      const nonce = await port.countOf(signer, signal).catch(nullUnlessAway(signal));
      views.set(signer, { ...own, nonce });
    }
    return { own, of: ({ signer }) => views.get(signer) ?? own };
  };

  /** The inclusions of attempts; those that could not be looked up are left out. */
  const find = async (attempts: readonly Attempt[], { own }: Look, signal: AbortSignal) => {
    const found = new Map<Attempt, Inclusion | undefined>();
    const findAll = async (some: readonly Attempt[]) => {
      const transactions = some.flatMap((attempt) => attempt.transactions);
      const inclusions = transactions.length === 0 ? [] : await port.find(transactions, own, signal);
      const byId = new Map(inclusions.map((inclusion) => [inclusion.id, inclusion]));
      for (const one of some)
        found.set(one, bestOf(one.transactions.flatMap(({ id }) => byId.get(id) ?? [])));
    };
    const failed = await findAll(attempts).catch(nullUnlessAway(signal));
    if (failed === null) for (const one of attempts) await findAll([one]).catch(nullUnlessAway(signal));
    return found;
  };

  /** Answers the newest look at the chain. */
  const follow = async (
    lease: ChainLease,
    attempts: readonly Attempt[],
    first: Look,
    signal: AbortSignal,
  ): Promise<ChainView> => {
    let seen = first;
    const found = await find(attempts, seen, signal);
    const holdingUp = new Set<string>();
    for (const attempt of inNonceOrder(attempts)) {
      const inclusion = found.get(attempt);
      const isFirst = !holdingUp.has(attempt.signer);
      if (inclusion === undefined) holdingUp.add(attempt.signer);
      if (!found.has(attempt)) continue;
      const isOwn = attempt.signer === port.signer;
      const sendingForMs = clock.monotonic() - since;
      const stepAt = (at: Look) =>
        nextStep(attempt, inclusion, { view: at.of(attempt), isFirst, isOwn, sendingForMs }, port);
      let step = stepAt(seen);
      // The chain may have taken blocks back between the look at it and the look for transactions.
      if (step.kind === 'lost' && seen === first) {
        seen = await look(attempts, signal);
        step = stepAt(seen);
      }
      await carryOut(lease, attempt, step, seen.of(attempt), signal);
    }
    return seen.own;
  };

  /** What the chain holds of a lane, where that can be told; a lane of which it cannot be told keeps no other waiting. */
  const compare = async (lease: ChainLease, { deployment, sent }: LaneToCompare, signal: AbortSignal) => {
    const recorded = await port.recorded(deployment, sent, signal).catch((error: Error) => {
      logger.warn({ chain: name, deployment, error }, 'what the chain holds cannot be told');
      return nullUnlessAway(signal)(error);
    });
    return fenced(db, lease, owner, async (trx): Promise<Comparison> => {
      const lane = { deployment, chain: name, signer: port.signer };
      const comparison = recorded === null ? 'unread' : await compareLane(trx, lane, recorded);
      if (comparison === 'unread') await putBack(trx, deployment, name, port.patience.retryMs);
      return comparison;
    });
  };

  /** Lanes that may send: those that hold nothing else than the chain. */
  const comparedLanes = async (lease: ChainLease, free: number, signal: AbortSignal) => {
    const ready: string[] = [];
    for (const lane of await lanesWithWork(db, name, free)) {
      const { deployment } = lane;
      const comparison = level.has(deployment) ? 'level' : await compare(lease, lane, signal);
      if (comparison === 'ahead')
        logger.error({ chain: name, deployment }, 'chain is ahead of the deployment');
      if (comparison !== 'level') continue;
      if (level.size >= MAX_LEVEL) level.clear();
      level.add(deployment);
      ready.push(deployment);
    }
    return ready;
  };

  const adopt = async (lease: ChainLease, signal: AbortSignal) => {
    for (const adoption of await openAdoptions(db, name)) {
      const chainLast = await port.lastNumber(adoption.deployment, signal).catch(nullUnlessAway(signal));
      if (chainLast === null) continue;
      const { consumer } = options;
      const outcome = await fenced(db, lease, owner, (trx) =>
        adoptLane(trx, adoption, { consumer, chainLast }),
      );
      if (outcome === 'waits') continue;
      level.delete(adoption.deployment);
      if (outcome === 'lost') await options.skipLost(adoption.deployment);
    }
  };

  /** An empty transaction that was refused is made again only after a pause. */
  const mayFill = (nonce: number): boolean => {
    const now = clock.monotonic();
    if (now - (filledAt.get(nonce) ?? 0) < port.patience.resendMs) return false;
    if (filledAt.size > MAX_OPEN) filledAt.clear();
    filledAt.set(nonce, now);
    return true;
  };

  const begin = async (lease: ChainLease, open: number, view: ChainView, signal: AbortSignal) => {
    if (!usable || view.isTooExpensive) {
      if (view.isTooExpensive) signals.feeCapped(name);
      return;
    }
    const deployments = open >= MAX_OPEN ? [] : await comparedLanes(lease, MAX_OPEN - open, signal);
    if (deployments.length === 0 && open === 0) return;
    const terms = { chain: name, signer: port.signer, deployments, nonce: view.nonce };
    await fenced(db, lease, owner, async (trx) => {
      if (deployments.length > 0) await claimParcels(trx, terms);
      await fillGaps(trx, terms, mayFill);
    });
    const attempts = await attemptsUnderWay(db, name, { limit: MAX_OPEN * 2, watched: 0 });
    const isNew = ({ signer, transactions }: Attempt) => signer === port.signer && transactions.length === 0;
    for (const attempt of inNonceOrder(attempts.filter(isNew))) {
      const next = await sign(lease, attempt, view, signal);
      if (next !== undefined) await send(lease, next, signal);
    }
  };

  const round = async (lease: ChainLease, signal: AbortSignal): Promise<PollOutcome> => {
    await check(lease, signal);
    if (isAway) return 'idle';
    const isWatchDue = clock.monotonic() - watchedAt >= Math.min(WATCH_MS, port.patience.resendMs);
    const watched = isWatchDue ? MAX_WATCHED : 0;
    const attempts = await attemptsUnderWay(db, name, { limit: MAX_OPEN * 2, watched });
    await adopt(lease, signal);
    const hasWork = attempts.length > 0 || (await lanesWithWork(db, name, 1)).length > 0;
    if (!hasWork) return 'idle';
    const view = await follow(lease, attempts, await look(attempts, signal), signal);
    await noteSignerCount(db, lease, owner, { signer: port.signer, nonce: view.nonce });
    if (isWatchDue) watchedAt = clock.monotonic();
    const open = await attemptsUnderWay(db, name, { limit: MAX_OPEN, watched: 0 });
    await begin(lease, open.length, view, signal);
    return 'idle';
  };

  return {
    runOnce: async (signal: AbortSignal): Promise<PollOutcome> => {
      const lease = await takeLease();
      if (lease === undefined) return 'idle';
      try {
        return await round(lease, signal);
      } catch (error) {
        if (error instanceof LeaseLost) return 'idle';
        if (!(error instanceof ServersAway)) throw error;
        // Nothing more is asked until the next check.
        isAway = true;
        await noteState(lease, { reason: error.message, balance: null });
        return 'idle';
      }
    },
  };
}

/** The chain at one time, and as the signer of an attempt sees it. */
interface Look {
  readonly own: ChainView;
  readonly of: (attempt: Attempt) => ChainView;
}

interface LaneToCompare {
  readonly deployment: string;
  readonly sent: number;
}

/** For a call of the port whose failure concerns what it asks for alone. */
const nullUnlessAway =
  (signal: AbortSignal) =>
  (error: unknown): null => {
    if (signal.aborted || error instanceof ServersAway) throw error;
    return null;
  };

const inNonceOrder = (attempts: readonly Attempt[]): Attempt[] =>
  [...attempts].sort((a, b) => (a.nonce ?? 0) - (b.nonce ?? 0) || a.id - b.id);

/** Of an attempt's transactions one has the effect; a failed one of the same nonce says less. */
const bestOf = (found: readonly Inclusion[]): Inclusion | undefined =>
  found.find(({ failure }) => failure === null) ?? found[0];
