import { type JsonValue, type Message, type PayloadOf, problemsOf } from '@orrery/contracts';
import { backoffDelay, type Logger, withinTrace } from '@orrery/service-kit';
import { decodeBody, unsafePlace } from '../body.js';
import type { ConsumeOptions, Verdict } from '../port.js';
import type { FactDelivery } from '../transport.js';
import type { LaneOutcome } from './lanes.js';

const MAX_ATTEMPTS = 10;
/** Pauses after a handler threw, or after a parked message could not be kept. */
const AFTER_FAILURE = { baseMs: 500, maxMs: 60_000 };

/**
 * One delivery, from its text to its end:
 *
 *   unreadable ─────────────────────────────→ parked
 *   handled ─ ack ─→ done          handled ─ park ─→ parked ─ kept by onParked ─→ done
 *   handled ─ retry or throw ─→ sent back, or parked when it was the last attempt
 */
export function createHandling<M extends Message>(message: M, options: ConsumeOptions<M>, logger: Logger) {
  const { consumer, maxAttempts = MAX_ATTEMPTS } = options;

  const settle = async (delivery: FactDelivery, verdict: Verdict, payload: unknown): Promise<LaneOutcome> => {
    if (verdict === 'ack') return done(delivery);
    if ('park' in verdict) return park(delivery, payload, verdict.park);
    if (delivery.attempt >= maxAttempts)
      return park(delivery, payload, `${delivery.attempt} attempts did not succeed`);
    return sendBack(delivery, verdict.retryInMs);
  };
  const park = async (delivery: FactDelivery, payload: unknown, reason: string) => {
    const { id, attempt } = delivery;
    const facts = { message: message.name, consumer, id, attempt, reason };
    logger.error(facts, 'a message is parked');
    await options.onParked?.({ id, attempt, payload, reason });
    return done(delivery);
  };

  return (delivery: FactDelivery): Promise<LaneOutcome> =>
    withinTrace(delivery.headers, async () => {
      try {
        const read = readPayload(message, delivery.body);
        if ('reason' in read) return await park(delivery, read.payload, read.reason);
        const verdict = await options.handle(read.payload, { id: delivery.id, attempt: delivery.attempt });
        return await settle(delivery, verdict, read.payload);
      } catch (error) {
        return await afterFailure(delivery, error);
      }
    });

  async function afterFailure(delivery: FactDelivery, error: unknown): Promise<LaneOutcome> {
    const { id, attempt } = delivery;
    logger.warn({ err: error, message: message.name, consumer, id, attempt }, 'handling a message failed');
    const verdict = { retryInMs: backoffDelay(attempt, AFTER_FAILURE) };
    const payload = decodeBody(delivery.body);
    return settle(delivery, verdict, payload).catch(() => sendBack(delivery, verdict.retryInMs));
  }
}

function done(delivery: FactDelivery): LaneOutcome {
  delivery.done();
  return 'over';
}

function sendBack(delivery: FactDelivery, backInMs: number): LaneOutcome {
  delivery.sendBack(backInMs, true);
  return { backInMs };
}

/** No repetition makes a payload readable, so it is parked at once. */
function readPayload<M extends Message>(
  message: M,
  body: string,
): { payload: PayloadOf<M> } | { payload: JsonValue; reason: string } {
  const payload = decodeBody(body);
  const unsafe = unsafePlace(payload);
  if (unsafe !== undefined) return { payload, reason: `${unsafe.pointer}: ${unsafe.message}` };
  const parsed = message.payload.safeParse(payload);
  if (parsed.success) return { payload: parsed.data as PayloadOf<M> };
  const [problem] = problemsOf(parsed.error);
  return { payload, reason: `${problem?.pointer}: ${problem?.message}` };
}
