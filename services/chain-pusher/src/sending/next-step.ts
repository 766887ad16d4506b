import type { ChainPort, ChainView, Inclusion } from '../chains/chain-port.js';
import type { Attempt } from './attempt-store.js';

/** What to do about an attempt after a look at the chain. */
export type Step =
  | { readonly kind: 'wait' | 'sign' | 'resend' | 'replace' | 'reopen' | 'lost' }
  | { readonly kind: 'note'; readonly inclusion: Inclusion }
  | { readonly kind: 'failed'; readonly reason: string };

const DEPTHS: Readonly<Record<string, number>> = { open: 0, included: 1, confirmed: 2, final: 3 };

/** Pure. `isFirst`: no older attempt of the signer is open, so this one holds up the others. */
export function nextStep(
  attempt: Attempt,
  inclusion: Inclusion | undefined,
  { view, now, isFirst }: { readonly view: ChainView; readonly now: number; readonly isFirst: boolean },
  port: Pick<ChainPort, 'isOver' | 'patience'>,
): Step {
  if (inclusion !== undefined) return stepAtInclusion(attempt, inclusion);
  const newest = attempt.transactions.at(-1);
  if (newest === undefined) return { kind: 'sign' };
  // What was taken over from the chain cannot be sent again.
  if (newest.raw === '') return { kind: 'lost' };
  if (attempt.transactions.every((one) => port.isOver(one, attempt.nonce, view))) return { kind: 'lost' };
  if (attempt.state !== 'open') return { kind: 'reopen' };
  const { resendMs, replaceMs } = port.patience;
  if (isFirst && now - newest.createdAt >= replaceMs) return { kind: 'replace' };
  return now - (newest.sentAt ?? 0) >= resendMs ? { kind: 'resend' } : { kind: 'wait' };
}

function stepAtInclusion(attempt: Attempt, inclusion: Inclusion): Step {
  if (inclusion.failure !== null) return { kind: 'failed', reason: inclusion.failure };
  const isSame = attempt.blockId === inclusion.blockId && DEPTHS[attempt.state] === DEPTHS[inclusion.depth];
  return isSame ? { kind: 'wait' } : { kind: 'note', inclusion };
}
