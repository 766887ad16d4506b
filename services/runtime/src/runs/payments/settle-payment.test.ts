import { createLogger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { describe, expect, it } from 'vitest';
import { NO_CALLS } from '../../core/payments/judge-settlement.js';
import type { Charge, ChargeSearch, Payment, SettlementReply } from '../../core/payments/payment.js';
import { resolvePayment, type Settlement, settlePayment } from './settle-payment.js';

const UNTIL_MS = 20_000;
const VALID_UNTIL_MS = 120_000;
const payment = { key: 'payment', validUntil: VALID_UNTIL_MS } as Payment;
const logger = createLogger({ service: 'test', level: 'silent' });
const never = () => new Promise<never>(() => undefined);

type Reply = (clock: FakeClock, timeoutMs: number) => Promise<SettlementReply>;
const silent: Reply = async () => ({ kind: 'silent', reason: 'no_reply' });
const unclear: Reply = async () => ({ kind: 'unclear', reason: 'no_clear_reply' });

/** A settlement, by default on a chain that never answers. */
function settling(reply: Reply, look: () => Promise<Charge> = never, work: 'settle' | 'resolve' = 'settle') {
  const clock = new FakeClock(0);
  const searches: ChargeSearch[] = [];
  const timeouts: number[] = [];
  const stopping = new AbortController();
  const outcome: { settlement?: Settlement; error?: unknown } = {};
  const facilitator = {
    settle: (_payment: Payment, timeoutMs: number) => {
      timeouts.push(timeoutMs);
      return reply(clock, timeoutMs);
    },
  };
  const searching = (_payment: Payment, search: ChargeSearch) => {
    searches.push(search);
    return look();
  };
  const chainOf = async () => ({ look: searching });
  const dependencies = { facilitator: facilitator as never, chainOf, clock, logger };
  const options = { until: UNTIL_MS, since: 0, calls: NO_CALLS, signal: stopping.signal };
  const settlement =
    work === 'settle'
      ? settlePayment(dependencies, payment, options)
      : resolvePayment(dependencies, payment, { ...options, calls: { named: [], unaccounted: true } });
  const ended = settlement.then(
    (known) => void Object.assign(outcome, { settlement: known }),
    (error: unknown) => void Object.assign(outcome, { error }),
  );
  return { clock, searches, timeouts, stopping, outcome, ended };
}

describe('a settlement', () => {
  it('is unclear at once where an answer came that does not tell, and the chain does not either', async () => {
    const { outcome, ended, timeouts, clock } = settling(unclear, async () => ({ kind: 'open', failed: [] }));
    await clock.advance(0);
    await ended;
    expect(outcome).toEqual({
      settlement: {
        kind: 'unclear',
        reason: 'no_clear_reply',
        calls: { named: [], unaccounted: true },
      },
    });
    expect(timeouts).toHaveLength(1);
  });

  it('is tried again for its whole time where no answer comes', async () => {
    const { clock, outcome, timeouts } = settling(silent, async () => ({ kind: 'open', failed: [] }));
    await clock.advance(UNTIL_MS - 2001);
    expect(outcome).toEqual({});
    await clock.advance(2001);
    expect(outcome).toMatchObject({ settlement: { kind: 'unclear', reason: 'no_reply' } });
    expect(timeouts.length).toBeGreaterThan(5);
  });

  it('is refused by a clear answer, also while the chain does not answer', async () => {
    const { clock, outcome, searches } = settling(async () => ({ kind: 'refused', reason: 'funds' }));
    await clock.advance(UNTIL_MS - 1);
    expect([outcome, searches.map(({ signal }) => signal.aborted)]).toEqual([{}, [false]]);
    await clock.advance(1);
    expect(outcome).toEqual({ settlement: { kind: 'refused', reason: 'funds', isFinal: false } });
    expect(searches.map(({ signal }) => signal.aborted)).toEqual([true]);
  });

  it('that the facilitator has confirmed is looked for a few seconds, by the name that it gave', async () => {
    const reply: Reply = async () => ({ kind: 'settled', transaction: '0x1' });
    const { clock, outcome, searches, timeouts } = settling(reply, async () => ({
      kind: 'open',
      failed: [],
    }));
    await clock.advance(5000);
    expect(outcome).toMatchObject({
      settlement: { kind: 'unclear', reason: 'not_shown', calls: { named: ['0x1'], unaccounted: false } },
    });
    expect([timeouts.length, new Set(searches.flatMap(({ named }) => named))]).toEqual([1, new Set(['0x1'])]);
  });

  it('leaves a quarter of the time for the chain where the facilitator takes all that it gets', async () => {
    const slow: Reply = async (clock, timeoutMs) => {
      await clock.sleep(timeoutMs);
      return { kind: 'silent', reason: 'no_reply' };
    };
    const { clock, searches, timeouts, outcome } = settling(slow);
    await clock.advance(15_000);
    expect([timeouts, searches.length]).toEqual([[15_000], 1]);
    await clock.advance(5000);
    expect(outcome).toMatchObject({ settlement: { kind: 'unclear' } });
  });

  it('ends at once with the reason of its signal', async () => {
    const { clock, stopping, outcome, ended } = settling(unclear);
    await clock.advance(1);
    stopping.abort(new Error('the deployment was handed over'));
    await ended;
    expect(outcome).toEqual({ error: stopping.signal.reason });
  });
});

describe('an unclear payment', () => {
  it('is settled once more while it is valid, and never while the chain does not answer', async () => {
    const open = settling(unclear, async () => ({ kind: 'open', failed: [] }), 'resolve');
    await open.clock.advance(0);
    await open.ended;
    expect(open.timeouts).toHaveLength(1);
    const away = settling(unclear, never, 'resolve');
    await away.clock.advance(20_000);
    await away.ended;
    expect([away.timeouts, away.outcome]).toMatchObject([[], { settlement: { kind: 'unclear' } }]);
    const late = settling(unclear, async () => ({ kind: 'open', failed: [] }), 'resolve');
    expect(late.timeouts).toHaveLength(0);
  });

  it('is refused once its chain says that it expired unused', async () => {
    const over = settling(
      unclear,
      async () => ({ kind: 'void', reason: 'authorization_expired' }),
      'resolve',
    );
    await over.clock.advance(0);
    await over.ended;
    expect(over.outcome).toEqual({
      settlement: { kind: 'refused', reason: 'authorization_expired', isFinal: true },
    });
    expect(over.timeouts).toEqual([]);
  });
});
