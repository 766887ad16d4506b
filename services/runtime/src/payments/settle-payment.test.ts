import { createLogger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { describe, expect, it } from 'vitest';
import type { ChargeSearch, Payment, SettlementReply } from './payment.js';
import { type Settled, settlePayment } from './settle-payment.js';

const UNTIL_MS = 20_000;
const payment = { key: 'payment' } as Payment;
const logger = createLogger({ service: 'test', level: 'silent' });

/** A settlement whose chain never answers. */
function settling(reply: (clock: FakeClock, timeoutMs: number) => Promise<SettlementReply>) {
  const clock = new FakeClock(0);
  const searches: ChargeSearch[] = [];
  const timeouts: number[] = [];
  const stopping = new AbortController();
  const outcome: { settled?: Settled; error?: unknown } = {};
  const facilitator = {
    settle: (_payment: Payment, timeoutMs: number) => {
      timeouts.push(timeoutMs);
      return reply(clock, timeoutMs);
    },
  };
  const look = (_payment: Payment, search: ChargeSearch) => {
    searches.push(search);
    return new Promise<never>(() => undefined);
  };
  const dependencies = { facilitator: facilitator as never, chainOf: async () => ({ look }), clock, logger };
  const options = { until: UNTIL_MS, since: 0, alone: true, signal: stopping.signal };
  const ended = settlePayment(dependencies, payment, options).then(
    (settled) => void Object.assign(outcome, { settled }),
    (error: unknown) => void Object.assign(outcome, { error }),
  );
  return { clock, searches, timeouts, stopping, outcome, ended };
}

describe('a settlement whose chain does not answer', () => {
  it('is unknown in time, and the search is given up', async () => {
    const { clock, searches, outcome } = settling(async () => ({ kind: 'refused', reason: 'funds' }));
    await clock.advance(UNTIL_MS - 1);
    expect([outcome, searches.map(({ signal }) => signal.aborted)]).toEqual([{}, [false]]);
    await clock.advance(1);
    expect(outcome).toEqual({ settled: { kind: 'unknown', reason: 'funds' } });
    expect(searches.map(({ signal }) => signal.aborted)).toEqual([true]);
  });

  it('is unknown soon after the facilitator has confirmed a charge', async () => {
    const { clock, outcome } = settling(async () => ({ kind: 'settled', transaction: '0x1' }));
    await clock.advance(5000);
    expect(outcome).toMatchObject({ settled: { kind: 'unknown' } });
  });

  it('leaves a quarter of the time for the chain where the facilitator takes all that it gets', async () => {
    const slow = async (clock: FakeClock, timeoutMs: number) => {
      await clock.sleep(timeoutMs);
      return { kind: 'unclear', reason: 'no_clear_reply' } as const;
    };
    const { clock, searches, timeouts, outcome } = settling(slow);
    await clock.advance(15_000);
    expect([timeouts, searches.length]).toEqual([[15_000], 1]);
    await clock.advance(5000);
    expect(outcome).toMatchObject({ settled: { kind: 'unknown' } });
  });

  it('ends at once with the reason of its signal', async () => {
    const { clock, stopping, outcome, ended } = settling(async () => ({ kind: 'refused', reason: 'funds' }));
    await clock.advance(1);
    stopping.abort(new Error('the deployment was handed over'));
    await ended;
    expect(outcome).toEqual({ error: stopping.signal.reason });
  });
});
