import {
  type Backoff,
  backoffDelay,
  type Clock,
  type Logger,
  orAborted,
  withinTime,
} from '@orrery/service-kit';
import { afterReply, judge, type Verdict } from '../../core/payments/judge-settlement.js';
import type {
  Chain,
  Charge,
  Facilitator,
  Payment,
  SettleCalls,
  SettlementReply,
} from '../../core/payments/payment.js';
import type { PaymentReason } from '../../core/payments/payment-reasons.js';

interface SettleDependencies {
  readonly facilitator: Facilitator;
  readonly chainOf: (payment: Payment) => Promise<Chain>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How a settlement ended. `unclear`: neither the facilitator nor the chain has told. */
export type Settlement =
  | Verdict
  | { readonly kind: 'unclear'; readonly reason: PaymentReason; readonly calls: SettleCalls };

export interface SettleOptions {
  /** By the monotonic clock, in milliseconds: the outcome is unclear then. */
  readonly until: number;
  /** When our first call was made, in milliseconds since the epoch. */
  readonly since: number;
  /** What the calls before this may have put on the chain. */
  readonly calls: SettleCalls;
  readonly signal: AbortSignal;
}

const PAUSE: Backoff = { baseMs: 250, maxMs: 2000 };
/** The share of the time left that the facilitator may take; the rest is for asking the chain. */
const FACILITATORS_SHARE = 0.75;
/** How long the chain may take to show a charge that the facilitator has confirmed, in milliseconds. */
const SHOWN_WITHIN_MS = 5000;

/**
 * Settles a payment. A payment is charged once however often this is called: its chain takes it once. What the facilitator
 * says is compared with the chain: it may lie, fail, or lose its reply. It is called again only while it does not answer;
 * an answer that does not tell makes the outcome unclear at once. Rejects only with the signal's reason.
 */
export async function settlePayment(
  dependencies: SettleDependencies,
  payment: Payment,
  { until: latest, since, calls: earlier, signal }: SettleOptions,
): Promise<Settlement> {
  const { facilitator, clock } = dependencies;
  let until = latest;
  let calls = earlier;
  let confirmed: SettlementReply | undefined;
  for (let tries = 1; ; tries += 1) {
    const settling = () => facilitator.settle(payment, FACILITATORS_SHARE * (until - clock.monotonic()));
    // What goes on after an abort is continued by the next owner.
    const reply = confirmed ?? (await orAborted(settling(), signal));
    calls = afterReply(calls, reply);
    if (reply.kind === 'settled' && confirmed === undefined) {
      confirmed = reply;
      until = Math.min(until, clock.monotonic() + SHOWN_WITHIN_MS);
    }
    const charge = await lookUp(dependencies, payment, { since, calls, until, signal });
    const verdict = judge(calls, reply, charge, since);
    if (verdict !== undefined) return verdict;
    const pause = backoffDelay(tries, PAUSE);
    const isAnswered = reply.kind === 'refused' || reply.kind === 'unclear';
    if (isAnswered || clock.monotonic() + pause >= until)
      return { kind: 'unclear', reason: reasonOf(reply), calls };
    await clock.sleep(pause, signal);
  }
}

const reasonOf = (reply: SettlementReply): PaymentReason =>
  reply.kind === 'settled' ? 'not_shown' : reply.reason;

/** How long a chain may be asked about an unclear payment, and one more settlement of it may take, in milliseconds. */
const LOOK_MS = 20_000;
const AGAIN_MS = 10_000;
/** A payment is not sent again this shortly before it expires, in milliseconds. */
const TOO_LATE_MS = 5000;

/**
 * Finds out the outcome of a payment whose settlement is unclear. As long as it is valid and no reply has named a
 * transaction, the facilitator is asked to settle it once more. Rejects only with the signal's reason.
 */
export async function resolvePayment(
  dependencies: SettleDependencies,
  payment: Payment,
  { since, calls, signal }: Omit<SettleOptions, 'until'>,
): Promise<Settlement> {
  const { clock } = dependencies;
  const charge = await lookUp(dependencies, payment, {
    since,
    calls,
    until: clock.monotonic() + LOOK_MS,
    signal,
  });
  const verdict = judge(calls, undefined, charge, since);
  if (verdict !== undefined) return verdict;
  const mayBeSent =
    charge !== undefined && calls.named.length === 0 && clock.now() + TOO_LATE_MS < payment.validUntil;
  if (!mayBeSent) return { kind: 'unclear', reason: 'no_clear_reply', calls };
  return settlePayment(dependencies, payment, { since, calls, until: clock.monotonic() + AGAIN_MS, signal });
}

/** Undefined where the chain cannot be asked, or does not tell in time: the payment is then looked up again later. */
async function lookUp(
  { chainOf, clock, logger }: Pick<SettleDependencies, 'chainOf' | 'clock' | 'logger'>,
  payment: Payment,
  { since, calls: { named }, until, signal }: SettleOptions,
): Promise<Charge | undefined> {
  try {
    return await withinTime(clock, until - clock.monotonic(), signal, async (either) =>
      (await chainOf(payment)).look(payment, { since, named, signal: either }),
    );
  } catch (error) {
    signal.throwIfAborted();
    logger.warn({ err: error, payment: payment.key }, 'a chain could not be asked about a payment');
    return undefined;
  }
}
