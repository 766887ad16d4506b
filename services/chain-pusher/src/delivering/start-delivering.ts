import type { BlockList } from 'node:net';
import type { Bus } from '@orrery/bus';
import { WEBHOOK_LIMITS, webhooksChanged } from '@orrery/contracts';
import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import { createAddressRules } from '../core/webhooks/address-rules.js';
import type { Seal } from '../core/webhooks/seal.js';
import type { Db } from '../store/tables/schema.js';
import { webhookBacklog } from '../store/webhooks/claimed-webhooks.js';
import { claimDeliveries } from '../store/webhooks/delivery-store.js';
import { prunePassed } from '../store/webhooks/prune-deliveries.js';
import { reseal } from '../store/webhooks/webhook-secrets.js';
import { claimInTurn } from './claim-in-turn.js';
import { type Resolve, resolveName } from './connect-to.js';
import { deliverAsked, deliverTurn, type TurnDependencies } from './deliver-turn.js';
import { type FollowedDeployments, followDeployments } from './follow-deployments.js';
import { readJournals } from './read-journals.js';
import { type Account, type Claimable, createRooms, type Place } from './rooms.js';
import { createSender } from './send-request.js';
import { webhookSignals } from './signals.js';

export interface DeliveringOptions {
  readonly db: Db;
  readonly bus: Pick<Bus, 'broadcast' | 'call' | 'listen'>;
  readonly seal: Seal;
  /** Networks that are not public and that receivers may be in. */
  readonly allowedNetworks: BlockList;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Tests give names of their own. */
  readonly resolve?: Resolve | undefined;
  /** Milliseconds of an attempt, and of a quick one; tests are less patient. */
  readonly attemptMs?: number | undefined;
  readonly slowMs?: number | undefined;
  readonly pollMs?: number | undefined;
}

export interface Delivering {
  /** Where a journal ends now: a new webhook begins there. */
  headOf(deployment: string): Promise<{ seq: number; hash: string | null }>;
  /** Webhooks of this deployment were made or changed, or a delivery was asked for. */
  changed(deployment: string): void;
  stop(): Promise<void>;
}

const DEFAULTS = { attemptMs: WEBHOOK_LIMITS.attemptSeconds * 1000, slowMs: 1000, pollMs: 5000 };
/** Attempts at once in this process; each holds a socket and a body. */
const ROOMS = { quick: 64, slow: 256 };
/** Of these, those of one account. */
const SHARES = { quick: 48, slow: 64 };
const ASKED_AT_ONCE = 16;
const ROUND_MS = 1000;
const MEASURE_MS = 15_000;
const PRUNE_MS = 3_600_000;
/** Attempts under way have so long to end when the process stops, in milliseconds. */
const LAST_MS = 2000;

/** Delivers journals to webhooks, beside any number of processes that do the same. */
export async function startDelivering(options: DeliveringOptions): Promise<Delivering> {
  const { db, bus, seal, clock, logger } = options;
  const { attemptMs, slowMs, pollMs } = { ...DEFAULTS, ...given(options) };
  const [stopping, cutting] = [new AbortController(), new AbortController()];
  const signals = webhookSignals();
  const rooms = createRooms(ROOMS, SHARES);
  const allows = createAddressRules(options.allowedNetworks);
  const sender = createSender({ allows, resolve: options.resolve ?? resolveName, attemptMs });
  const journals = readJournals(bus, clock, cutting.signal);
  const turn: TurnDependencies = {
    ...{ db, seal, journals, signals, clock, logger, slowMs },
    send: sender.send,
    random: Math.random,
    heard: (deployment) => followed?.heard(deployment) ?? 0,
    signal: cutting.signal,
  };
  const work = new Set<Promise<void>>();
  /** Something may wait for a place. */
  let wasFull = false;
  const begin = (room: 'quick' | 'slow', account: Account, task: (place: Place) => Promise<boolean>) => {
    const place = rooms.enter(room, account);
    const going = task(place)
      .catch((err: unknown) => {
        logger.warn({ err }, 'a delivery was not recorded; it is made again');
        return false;
      })
      .then((isLeft) => {
        place.leave();
        work.delete(going);
        if (isLeft || wasFull) rounds.wake();
      });
    work.add(going);
  };
  const claim = claimInTurn(clock);
  const round = async () => {
    const slow = await take(rooms.claimable('slow'), (some) => claim(db, true, some));
    for (const one of slow) begin('slow', one.account_id, (place) => deliverTurn(turn, one, place));
    const { most, crowded } = rooms.claimable('slow');
    const asked = await take({ most: Math.min(ASKED_AT_ONCE, most), crowded }, (some) =>
      claimDeliveries(db, some),
    );
    for (const one of asked)
      begin('slow', one.account_id, (place) => deliverAsked(turn, one, place).then(() => true));
    const quick = await take(rooms.claimable('quick'), (some) => claim(db, false, some));
    for (const one of quick) begin('quick', one.account_id, (place) => deliverTurn(turn, one, place));
    const after = [rooms.claimable('slow'), rooms.claimable('quick')];
    wasFull = after.some((room) => room.most <= 0 || room.crowded.length > 0);
    const isFull = after.every((room) => room.most <= 0);
    return slow.length + asked.length + quick.length > 0 && !isFull ? 'more' : 'idle';
  };
  const loop = { clock, logger, signal: stopping.signal };
  const rounds = startPollLoop({ ...loop, name: 'webhooks', intervalMs: ROUND_MS, runOnce: round });
  const keeping = startPollLoop({
    ...loop,
    name: 'upkeep of webhooks',
    intervalMs: MEASURE_MS,
    runOnce: async () => {
      signals.backlog(await webhookBacklog(db));
      await reseal(db, seal);
    },
  });
  const pruning = startPollLoop({
    ...loop,
    name: 'deliveries that are not kept',
    intervalMs: PRUNE_MS,
    runOnce: (signal) => prunePassed(db, signal),
  });
  let followed: FollowedDeployments | undefined;
  const follows = await followDeployments({
    ...{ ...loop, db, bus, pollMs },
    onDue: () => rounds.wake(),
  });
  followed = follows;
  return {
    headOf: journals.head,
    changed: (deployment) => {
      follows.add([deployment]);
      // Who does not hear it finds out by the next comparison.
      bus.broadcast(webhooksChanged, { deployments: [deployment] }).catch(() => undefined);
    },
    stop: async () => {
      stopping.abort();
      const timer = setTimeout(() => cutting.abort(), LAST_MS);
      await Promise.all([rounds.stop(), keeping.stop(), pruning.stop(), follows.ended()]);
      await Promise.all(work);
      clearTimeout(timer);
      cutting.abort();
      sender.close();
    },
  };
}

const take = async <T>(some: Claimable, claim: (some: Claimable) => Promise<T[]>): Promise<T[]> =>
  some.most > 0 ? claim(some) : [];

const given = ({ attemptMs, slowMs, pollMs }: DeliveringOptions) => ({
  ...(attemptMs !== undefined && { attemptMs }),
  ...(slowMs !== undefined && { slowMs }),
  ...(pollMs !== undefined && { pollMs }),
});
