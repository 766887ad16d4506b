import { describe, expect, it } from 'vitest';
import { afterReply, judge, NO_CALLS } from './judge-settlement.js';
import type { Charge, SettleCalls, SettlementReply } from './payment.js';

const SINCE = 1_000_000;
const [ours, other] = ['0xours', '0xother'];
const open: Charge = { kind: 'open', failed: [] };
const failedOurs: Charge = { kind: 'open', failed: [ours] };
const charged = (transaction: string, at?: number): Charge => ({
  kind: 'charged',
  transaction,
  ...(at !== undefined && { at }),
});
const settled: SettlementReply = { kind: 'settled', transaction: ours };
const refused: SettlementReply = { kind: 'refused', reason: 'insufficient_funds' };
const unclear: SettlementReply = { kind: 'unclear', reason: 'settlement_pending' };
const failedReply: SettlementReply = { kind: 'unclear', reason: 'transaction_failed', transaction: ours };
const silent: SettlementReply = { kind: 'silent', reason: 'no_reply' };
const unsent: SettlementReply = { kind: 'unclear', reason: 'not_sent', isUnsent: true };
const lost: SettleCalls = { named: [], unaccounted: true };

const refusal = (reason: string, isFinal = false) => ({ kind: 'refused', reason, isFinal });
const isOurs = { kind: 'settled', transaction: ours };
const isOthers = { kind: 'elsewhere', transaction: other };

describe('what is known of a settlement', () => {
  it.each<
    [
      what: string,
      before: SettleCalls,
      reply: SettlementReply | undefined,
      charge: Charge | undefined,
      object?: object,
    ]
  >([
    ['a confirmed charge that the chain shows', NO_CALLS, settled, charged(ours), isOurs],
    ['a confirmed charge that the chain does not show', NO_CALLS, settled, open],
    ['a confirmed charge while the chain is away', NO_CALLS, settled, undefined],
    ['a confirmed charge where no node is configured', NO_CALLS, settled, { kind: 'unseen' }, isOurs],
    ['a clear refusal', NO_CALLS, refused, open, refusal('insufficient_funds')],
    ['a clear refusal while the chain is away', NO_CALLS, refused, undefined, refusal('insufficient_funds')],
    ['a clear refusal after a call without an answer', lost, refused, open],
    ['a clear refusal without a node', NO_CALLS, refused, { kind: 'unseen' }, refusal('insufficient_funds')],
    ['an answer that does not tell', NO_CALLS, unclear, open],
    ['no answer', NO_CALLS, silent, open],
    ['an answer that nothing could be sent', NO_CALLS, unsent, open],
    ['another transaction after that answer', NO_CALLS, unsent, charged(other, SINCE), isOthers],
    [
      'a refusal with a transaction that has failed',
      NO_CALLS,
      failedReply,
      failedOurs,
      refusal('transaction_failed'),
    ],
    ['a refusal with a transaction that is not there', NO_CALLS, failedReply, open],
    ['a refusal with a transaction that charged', NO_CALLS, failedReply, charged(ours), isOurs],
    ['a failed transaction beside a lost call', lost, failedReply, failedOurs],
    ['another transaction after a clear refusal', NO_CALLS, refused, charged(other, SINCE), isOthers],
    ['another transaction than the one named', NO_CALLS, failedReply, charged(other, SINCE), isOthers],
    ['a use after a lost call', lost, refused, charged(ours, SINCE + 1000), isOurs],
    ['a use while our clock is four minutes ahead', lost, undefined, charged(ours, SINCE - 240_000), isOurs],
    ['a use long before our first call', lost, undefined, charged(other, SINCE - 360_000), isOthers],
    [
      'an end without use',
      lost,
      undefined,
      { kind: 'void', reason: 'authorization_expired' },
      refusal('authorization_expired', true),
    ],
  ])('%s', (_what, before, reply, charge, verdict) => {
    const calls = reply === undefined ? before : afterReply(before, reply);
    const found = judge(calls, reply, charge, SINCE);
    if (verdict === undefined) expect(found).toBeUndefined();
    else expect(found).toEqual(verdict);
  });

  it('remembers what calls have named, and that one is unaccounted for', () => {
    const named = afterReply(afterReply(NO_CALLS, settled), failedReply);
    expect(named).toEqual({ named: [ours], unaccounted: false });
    expect(afterReply(named, silent)).toEqual({ named: [ours], unaccounted: true });
    for (const reply of [refused, unsent]) expect(afterReply(NO_CALLS, reply)).toEqual(NO_CALLS);
    expect(afterReply(lost, refused)).toEqual(lost);
  });
});
