import { type Backoff, backoffDelay, type Clock, type Logger } from '@orrery/service-kit';
import type { Chain, Charge, Facilitator, Payment, SettlementReply } from './payment.js';
import { orAborted, withinTime } from './within-time.js';

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
/** The share of the time left that the facilitator may take; the rest is for asking the chain. */
const FACILITATORS_SHARE = 0.75;
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
    const settling = () => facilitator.settle(payment, FACILITATORS_SHARE * (until - clock.monotonic()));
    // What goes on after an abort is continued by the next owner.
    const reply = confirmed ?? (await orAborted(settling(), signal));
    if (reply.kind === 'settled' && confirmed === undefined) {
      confirmed = reply;
      until = Math.min(until, clock.monotonic() + SHOWN_WITHIN_MS);
    }
    const charge = await lookUp({ chainOf, clock, logger }, payment, reply, { since, until, signal });
    if (charge?.kind === 'charged') return { kind: 'settled', transaction: charge.transaction };
    if (charge?.kind === 'void') return { kind: 'refused', reason: charge.reason, isFinal: true };
    if (charge?.kind === 'open' && reply.kind === 'refused')
      return isSure
        ? { kind: 'refused', reason: reply.reason, isFinal: false }
        : { kind: 'unknown', reason: reply.reason };
    if (reply.kind === 'unclear') isSure = false;
    const pause = backoffDelay(attempt, PAUSE);
    if (clock.monotonic() + pause >= until) return { kind: 'unknown', reason: reasonOf(reply) };
    await clock.sleep(pause, signal);
  }
}

const reasonOf = (reply: SettlementReply): string =>
  reply.kind === 'settled'
    ? 'The chain does not show the charge that the facilitator has confirmed.'
    : reply.reason;

/** Undefined where the chain cannot be asked, or does not tell in time: the payment is then looked up again later. */
async function lookUp(
  { chainOf, clock, logger }: Pick<SettleDependencies, 'chainOf' | 'clock' | 'logger'>,
  payment: Payment,
  reply: SettlementReply,
  { since, until, signal }: Pick<SettleOptions, 'since' | 'until' | 'signal'>,
): Promise<Charge | undefined> {
  const hint = ('transaction' in reply && reply.transaction) || undefined;
  try {
    return await withinTime(clock, until - clock.monotonic(), signal, async (either) =>
      (await chainOf(payment)).look(payment, { since, hint, signal: either }),
    );
  } catch (error) {
    signal.throwIfAborted();
    logger.warn({ err: error, payment: payment.key }, 'a chain could not be asked about a payment');
    return undefined;
  }
}
