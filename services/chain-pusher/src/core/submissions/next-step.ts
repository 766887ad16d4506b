import type { ChainPort, ChainView, Inclusion } from '../chains/chain-port.js';
import type { Submission } from './submission.js';

/** What to do about a submission, by what the chain holds. */
export type Step =
  | { readonly kind: 'wait' | 'sign' | 'resend' | 'replace' | 'reopen' | 'drop' }
  | { readonly kind: 'note'; readonly inclusion: Inclusion }
  | { readonly kind: 'failed'; readonly reason: string };

/** What is known when a step is decided. */
export interface StepContext {
  /** As the submission's own signer sees the chain. */
  readonly view: ChainView;
  /** No older submission of the signer is open, so this one holds up the others. */
  readonly isFirst: boolean;
  /** The present signer's. What an earlier one signed can be sent again, and neither signed anew nor replaced. */
  readonly isOwn: boolean;
  /** How long this process has been the one that sends to the chain, in milliseconds. */
  readonly sendingForMs: number;
}

const DEPTHS: Readonly<Record<string, number>> = { open: 0, included: 1, confirmed: 2, final: 3 };

export function nextStep(
  submission: Submission,
  inclusion: Inclusion | undefined,
  context: StepContext,
  port: Pick<ChainPort, 'isOver' | 'delays'>,
): Step {
  if (inclusion !== undefined) return stepAtInclusion(submission, inclusion);
  const newest = submission.transactions.at(-1);
  if (newest === undefined) return { kind: context.isOwn ? 'sign' : 'drop' };
  // What was taken over from the chain cannot be sent again.
  if (newest.raw === '') return { kind: 'drop' };
  if (submission.transactions.every((one) => port.isOver(one, submission.nonce, context.view)))
    return { kind: 'drop' };
  if (submission.state !== 'open') return { kind: 'reopen' };
  return stepWhileOpen(newest, context, port.delays);
}

function stepWhileOpen(
  { ageMs, sentAgoMs, weighedAgoMs }: Submission['transactions'][number],
  { isFirst, isOwn, sendingForMs }: StepContext,
  { resendMs, replaceMs }: ChainPort['delays'],
): Step {
  if (!isOwn && Math.min(ageMs, sendingForMs) >= replaceMs) return { kind: 'drop' };
  if (isOwn && isFirst && weighedAgoMs !== null && weighedAgoMs >= replaceMs) return { kind: 'replace' };
  return sentAgoMs === null || sentAgoMs >= resendMs ? { kind: 'resend' } : { kind: 'wait' };
}

function stepAtInclusion(submission: Submission, inclusion: Inclusion): Step {
  if (inclusion.failure !== null) return { kind: 'failed', reason: inclusion.failure };
  const isSame =
    submission.blockId === inclusion.blockId && DEPTHS[submission.state] === DEPTHS[inclusion.depth];
  return isSame ? { kind: 'wait' } : { kind: 'note', inclusion };
}
