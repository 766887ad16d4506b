import { type Backoff, backoffDelay, type Clock, type Logger } from '@orrery/service-kit';
import type { Chain, Charge, Facilitator, Payment, SettlementReply } from './payment.js';

export interface SettleDependencies {
  readonly facilitator: Facilitator;
  readonly chainOf: (payment: Payment) => Promise<Chain>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How a settlement ended. `unknown`: neither the facilitator nor the chain could tell in time. */
export type Settled =
  | { readonly kind: 'settled'; readonly transaction: string }
  /** Not charged. `isFinal`: the chain says that it cannot be charged any more. */
  | { readonly kind: 'refused'; readonly reason: string; readonly isFinal: boolean }
  | { readonly kind: 'unknown'; readonly reason: string };

export interface SettleOptions {
  /** Milliseconds since the epoch, by which the outcome is unknown. */
  readonly until: number;
  /** Milliseconds since the epoch before which nothing was charged. */
  readonly since: number;
  /**
   * Nobody else has asked the facilitator to settle this payment, nor will. Otherwise its refusal says nothing: another
   * process may still be about to ask, so only the chain can tell that the payment was not charged.
   */
  readonly alone: boolean;
  readonly signal: AbortSignal;
}

const PAUSE: Backoff = { baseMs: 250, maxMs: 2000 };
/** How long the chain may take to show a charge that the facilitator has confirmed, in milliseconds. */
const SHOWN_WITHIN_MS = 5000;

/**
 * Settles a payment. A payment is charged once however often this is called: its chain takes it once. What the facilitator
 * says is compared with the chain: it may lie, fail, or lose its reply. Rejects only with the signal's reason.
 */
export async function settlePayment(
  { facilitator, chainOf, clock, logger }: SettleDependencies,
  payment: Payment,
  { until: latest, since, alone, signal }: SettleOptions,
): Promise<Settled> {
  let until = latest;
  let confirmed: SettlementReply | undefined;
  // After one call without a clear reply a refusal says nothing either: that call may have sent the transaction.
  let isSure = alone;
  for (let attempt = 1; ; attempt += 1) {
    const reply = confirmed ?? (await orAborted(facilitator.settle(payment, until - clock.now()), signal));
    if (reply.kind === 'settled' && confirmed === undefined) {
      confirmed = reply;
      until = Math.min(until, clock.now() + SHOWN_WITHIN_MS);
    }
    const charge = await orAborted(lookUp(chainOf, payment, since, reply, logger), signal);
    if (charge?.kind === 'charged') return { kind: 'settled', transaction: charge.transaction };
    if (charge?.kind === 'void') return { kind: 'refused', reason: charge.reason, isFinal: true };
    if (charge?.kind === 'open' && reply.kind === 'refused')
      return isSure
        ? { kind: 'refused', reason: reply.reason, isFinal: false }
        : { kind: 'unknown', reason: reply.reason };
    if (reply.kind === 'unclear') isSure = false;
    const pause = backoffDelay(attempt, PAUSE);
    if (clock.now() + pause >= until) return { kind: 'unknown', reason: reasonOf(reply) };
    await clock.sleep(pause, signal);
  }
}

const reasonOf = (reply: SettlementReply): string =>
  reply.kind === 'settled'
    ? 'The chain does not show the charge that the facilitator has confirmed.'
    : reply.reason;

/** Undefined where the chain cannot be asked. */
async function lookUp(
  chainOf: SettleDependencies['chainOf'],
  payment: Payment,
  since: number,
  reply: SettlementReply,
  logger: Logger,
): Promise<Charge | undefined> {
  const hint = 'transaction' in reply ? reply.transaction : undefined;
  try {
    const chain = await chainOf(payment);
    return await chain.look(payment, since, hint === '' ? undefined : hint);
  } catch (error) {
    logger.warn({ err: error, payment: payment.key }, 'a chain could not be asked about a payment');
    return undefined;
  }
}

/** The result, or the signal's reason as soon as it aborts: what goes on then is continued by the next owner. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const done = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { signal: done.signal, once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted]);
  } finally {
    done.abort();
  }
}
