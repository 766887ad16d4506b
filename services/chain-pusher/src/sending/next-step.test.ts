import { describe, expect, it } from 'vitest';
import type { ChainView, Inclusion } from '../chains/chain-port.js';
import type { Attempt, AttemptTransaction } from './attempt-store.js';
import { nextStep, type StepContext } from './next-step.js';

const patience = { resendMs: 10_000, replaceMs: 30_000, retryMs: 1000 };
/** Over once the count of the view has passed the nonce, as on EVM. */
const port = {
  patience,
  isOver: (_one: unknown, nonce: number | null, { nonce: count }: ChainView) =>
    nonce !== null && count !== null && count > nonce,
};

const sent = (ageMs: number, more: Partial<AttemptTransaction> = {}): AttemptTransaction => ({
  id: 'a',
  raw: '0x',
  terms: {},
  ageMs,
  sentAgoMs: 0,
  ...more,
});
const attempt = (more: Partial<Attempt> = {}): Attempt => ({
  id: 1,
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

const stepOf = (one: Attempt, at: StepContext, found?: Inclusion) => nextStep(one, found, at, port);

describe('what is done about an attempt that no block holds', () => {
  const stale = attempt({ transactions: [sent(0, { sentAgoMs: 10_000 })] });
  const almostStale = attempt({ transactions: [sent(0, { sentAgoMs: 9_999 })] });
  const old = attempt({ transactions: [sent(30_000)] });
  const almostOld = attempt({ transactions: [sent(29_999)] });
  const unsent = attempt({ transactions: [sent(0, { sentAgoMs: null })] });
  const included = attempt({ state: 'included', block: 9, blockId: 'b9' });
  const takenOver = attempt({ nonce: null, state: 'included', transactions: [sent(0, { raw: '' })] });

  it.each<[string, Attempt, Partial<StepContext>, string]>([
    ['without a transaction: it is signed', attempt({ transactions: [] }), {}, 'sign'],
    ['sent a moment ago: it waits', attempt(), {}, 'wait'],
    ['stored and not sent: it is sent', unsent, {}, 'resend'],
    ['sent long ago: it is sent again', stale, {}, 'resend'],
    ['sent almost long ago: it waits', almostStale, {}, 'wait'],
    ['that holds up the others: it is replaced', old, {}, 'replace'],
    ['that almost holds them up for long: it waits', almostOld, {}, 'wait'],
    ['behind an older one: it is not replaced', old, { isFirst: false }, 'wait'],
    ['whose nonce is used: it is lost', attempt(), { view: seen(6) }, 'lost'],
    ['that was in a block: it is open again', included, {}, 'reopen'],
    ['that was in a block, with its nonce used: it is lost', included, { view: seen(6) }, 'lost'],
    ['taken over from the chain: it is lost', takenOver, {}, 'lost'],
  ])('%s', (_what, one, more, kind) => {
    expect(stepOf(one, context(more))).toEqual({ kind });
  });

  it('waits for each of its transactions to be over', () => {
    const isOver = ({ id }: { id: string }) => id === 'a';
    const both = attempt({ transactions: [sent(0), sent(0, { id: 'b' })] });
    expect(nextStep(both, undefined, context(), { patience, isOver }).kind).toBe('wait');
    expect(nextStep(attempt(), undefined, context(), { patience, isOver }).kind).toBe('lost');
  });
});

describe('what is done about an attempt of an earlier signer', () => {
  const earlier = { isOwn: false };
  const stale = attempt({ transactions: [sent(60_000, { sentAgoMs: 10_000 })] });

  it.each<[string, Attempt, Partial<StepContext>, string]>([
    ['that it never signed: it is lost', attempt({ transactions: [] }), {}, 'lost'],
    ['that a new process finds: it is sent again', stale, { sendingForMs: 0 }, 'resend'],
    ['never replaced, and lost after as long', stale, { sendingForMs: 30_000 }, 'lost'],
    ['sent a moment ago: it waits', attempt(), { isFirst: false }, 'wait'],
    ["whose nonce is used by that signer's count: it is lost", attempt(), { view: seen(6) }, 'lost'],
  ])('%s', (_what, one, more, kind) => {
    expect(stepOf(one, context({ ...earlier, ...more }))).toEqual({ kind });
  });
});

describe('what is done about an attempt that a block holds', () => {
  const confirmed = attempt({ state: 'confirmed', block: 9, blockId: 'b9' });

  it.each<[string, Attempt, Inclusion, string]>([
    ['for the first time: it is noted', attempt(), inclusion(), 'note'],
    ['deeper than before: it is noted', confirmed, inclusion({ depth: 'final' }), 'note'],
    ['less deep than before: it is noted', confirmed, inclusion({ depth: 'included' }), 'note'],
    ['of another fork: it is noted', confirmed, inclusion({ depth: 'confirmed', blockId: 'c9' }), 'note'],
    ['as before: it waits', confirmed, inclusion({ depth: 'confirmed' }), 'wait'],
    ['without an effect: it has failed', attempt(), inclusion({ failure: 'reverted' }), 'failed'],
  ])('%s', (_what, one, found, kind) => {
    expect(stepOf(one, context({ view: seen(6) }), found)).toMatchObject({ kind });
  });

  it('tells where it is, and why it failed', () => {
    expect(stepOf(attempt(), context(), inclusion())).toEqual({ kind: 'note', inclusion: inclusion() });
    expect(stepOf(attempt(), context(), inclusion({ failure: 'reverted' }))).toEqual({
      kind: 'failed',
      reason: 'reverted',
    });
  });
});
