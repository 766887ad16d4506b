import { describe, expect, it } from 'vitest';
import type { ChainView, Inclusion } from '../chains/chain-port.js';
import { nextStep, type StepContext } from './next-step.js';
import type { Submission, SubmittedTransaction } from './submission.js';

const delays = { resendMs: 10_000, replaceMs: 30_000, retryMs: 1000 };
/** Over once the count of the view has passed the nonce, as on EVM. */
const port = {
  delays,
  isOver: (_one: unknown, nonce: number | null, { nonce: count }: ChainView) =>
    nonce !== null && count !== null && count > nonce,
};

const sent = (ageMs: number, more: Partial<SubmittedTransaction> = {}): SubmittedTransaction => ({
  id: 'a',
  raw: '0x',
  terms: {},
  ageMs,
  sentAgoMs: 0,
  weighedAgoMs: ageMs,
  ...more,
});
const submission = (more: Partial<Submission> = {}): Submission => ({
  id: 1,
  chain: 'local',
  signer: 'own',
  deployment: 'd',
  nonce: 5,
  from: 1,
  to: 1,
  state: 'open',
  block: null,
  blockId: null,
  transactions: [sent(0)],
  ...more,
});
const seen = (nonce: number): ChainView => ({ nonce, isTooExpensive: false, terms: {} });
const context = (more: Partial<StepContext> = {}): StepContext => ({
  view: seen(5),
  isFirst: true,
  isOwn: true,
  sendingForMs: 1_000_000,
  ...more,
});
const inclusion = (more: Partial<Inclusion> = {}): Inclusion => ({
  id: 'a',
  block: 9,
  blockId: 'b9',
  failure: null,
  depth: 'included',
  ...more,
});

const stepOf = (one: Submission, at: StepContext, found?: Inclusion) => nextStep(one, found, at, port);

describe('what is done about a submission that no block holds', () => {
  const stale = submission({ transactions: [sent(0, { sentAgoMs: 10_000 })] });
  const almostStale = submission({ transactions: [sent(0, { sentAgoMs: 9_999 })] });
  const old = submission({ transactions: [sent(30_000)] });
  const almostOld = submission({ transactions: [sent(29_999)] });
  const untaken = submission({ transactions: [sent(30_000, { weighedAgoMs: null })] });
  const unsent = submission({ transactions: [sent(0, { sentAgoMs: null })] });
  const included = submission({ state: 'included', block: 9, blockId: 'b9' });
  const takenOver = submission({ nonce: null, state: 'included', transactions: [sent(0, { raw: '' })] });

  it.each<[string, Submission, Partial<StepContext>, string]>([
    ['without a transaction: it is signed', submission({ transactions: [] }), {}, 'sign'],
    ['sent a moment ago: it waits', submission(), {}, 'wait'],
    ['stored and not sent: it is sent', unsent, {}, 'resend'],
    ['sent long ago: it is sent again', stale, {}, 'resend'],
    ['sent almost long ago: it waits', almostStale, {}, 'wait'],
    ['that holds up the others: it is replaced', old, {}, 'replace'],
    ['that almost holds them up for long: it waits', almostOld, {}, 'wait'],
    ['behind an older one: it is not replaced', old, { isFirst: false }, 'wait'],
    ['that no node has taken: it is not replaced', untaken, {}, 'wait'],
    ['whose nonce is used: it is dropped', submission(), { view: seen(6) }, 'drop'],
    ['that was in a block: it is open again', included, {}, 'reopen'],
    ['that was in a block, with its nonce used: it is dropped', included, { view: seen(6) }, 'drop'],
    ['taken over from the chain: it is dropped', takenOver, {}, 'drop'],
  ])('%s', (_what, one, more, kind) => {
    expect(stepOf(one, context(more))).toEqual({ kind });
  });

  it('waits for each of its transactions to be over', () => {
    const isOver = ({ id }: { id: string }) => id === 'a';
    const both = submission({ transactions: [sent(0), sent(0, { id: 'b' })] });
    expect(nextStep(both, undefined, context(), { delays, isOver }).kind).toBe('wait');
    expect(nextStep(submission(), undefined, context(), { delays, isOver }).kind).toBe('drop');
  });
});

describe('what is done about a submission of an earlier signer', () => {
  const earlier = { isOwn: false };
  const stale = submission({ transactions: [sent(60_000, { sentAgoMs: 10_000 })] });

  it.each<[string, Submission, Partial<StepContext>, string]>([
    ['that it never signed: it is dropped', submission({ transactions: [] }), {}, 'drop'],
    ['that a new process finds: it is sent again', stale, { sendingForMs: 0 }, 'resend'],
    ['never replaced, and dropped after as long', stale, { sendingForMs: 30_000 }, 'drop'],
    ['sent a moment ago: it waits', submission(), { isFirst: false }, 'wait'],
    ["whose nonce is used by that signer's count: it is dropped", submission(), { view: seen(6) }, 'drop'],
  ])('%s', (_what, one, more, kind) => {
    expect(stepOf(one, context({ ...earlier, ...more }))).toEqual({ kind });
  });
});

describe('what is done about a submission that a block holds', () => {
  const confirmed = submission({ state: 'confirmed', block: 9, blockId: 'b9' });

  it.each<[string, Submission, Inclusion, string]>([
    ['for the first time: it is noted', submission(), inclusion(), 'note'],
    ['deeper than before: it is noted', confirmed, inclusion({ depth: 'final' }), 'note'],
    ['less deep than before: it is noted', confirmed, inclusion({ depth: 'included' }), 'note'],
    ['of another fork: it is noted', confirmed, inclusion({ depth: 'confirmed', blockId: 'c9' }), 'note'],
    ['as before: it waits', confirmed, inclusion({ depth: 'confirmed' }), 'wait'],
    ['without an effect: it has failed', submission(), inclusion({ failure: 'reverted' }), 'failed'],
  ])('%s', (_what, one, found, kind) => {
    expect(stepOf(one, context({ view: seen(6) }), found)).toMatchObject({ kind });
  });

  it('tells where it is, and why it failed', () => {
    expect(stepOf(submission(), context(), inclusion())).toEqual({ kind: 'note', inclusion: inclusion() });
    expect(stepOf(submission(), context(), inclusion({ failure: 'reverted' }))).toEqual({
      kind: 'failed',
      reason: 'reverted',
    });
  });
});
