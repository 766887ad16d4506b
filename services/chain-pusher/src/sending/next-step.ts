import type { ChainPort, ChainView, Inclusion } from '../chains/chain-port.js';
import type { Attempt } from './attempt-store.js';

/** What to do about an attempt after a look at the chain. */
export type Step =
  | { readonly kind: 'wait' | 'sign' | 'resend' | 'replace' | 'reopen' | 'lost' }
  | { readonly kind: 'note'; readonly inclusion: Inclusion }
  | { readonly kind: 'failed'; readonly reason: string };

/** What is known when a step is decided. */
export interface StepContext {
  /** As the attempt's own signer sees the chain. */
  readonly view: ChainView;
  /** No older attempt of the signer is open, so this one holds up the others. */
  readonly isFirst: boolean;
  /** The present signer's. What an earlier one signed can be sent again, and neither signed anew nor replaced. */
  readonly isOwn: boolean;
  /** How long this process has been the one that sends to the chain, in milliseconds. */
  readonly sendingForMs: number;
}

const DEPTHS: Readonly<Record<string, number>> = { open: 0, included: 1, confirmed: 2, final: 3 };

/** Pure. */
export function nextStep(
  attempt: Attempt,
  inclusion: Inclusion | undefined,
  context: StepContext,
  port: Pick<ChainPort, 'isOver' | 'patience'>,
): Step {
  if (inclusion !== undefined) return stepAtInclusion(attempt, inclusion);
  const newest = attempt.transactions.at(-1);
  if (newest === undefined) return { kind: context.isOwn ? 'sign' : 'lost' };
  // What was taken over from the chain cannot be sent again.
  if (newest.raw === '') return { kind: 'lost' };
  if (attempt.transactions.every((one) => port.isOver(one, attempt.nonce, context.view)))
    return { kind: 'lost' };
  if (attempt.state !== 'open') return { kind: 'reopen' };
  return stepWhileOpen(newest, context, port.patience);
}

function stepWhileOpen(
  { ageMs, sentAgoMs }: Attempt['transactions'][number],
  { isFirst, isOwn, sendingForMs }: StepContext,
  { resendMs, replaceMs }: ChainPort['patience'],
): Step {
  if (!isOwn && Math.min(ageMs, sendingForMs) >= replaceMs) return { kind: 'lost' };
  if (isOwn && isFirst && ageMs >= replaceMs) return { kind: 'replace' };
  return sentAgoMs === null || sentAgoMs >= resendMs ? { kind: 'resend' } : { kind: 'wait' };
}

function stepAtInclusion(attempt: Attempt, inclusion: Inclusion): Step {
  if (inclusion.failure !== null) return { kind: 'failed', reason: inclusion.failure };
  const isSame = attempt.blockId === inclusion.blockId && DEPTHS[attempt.state] === DEPTHS[inclusion.depth];
  return isSame ? { kind: 'wait' } : { kind: 'note', inclusion };
}
