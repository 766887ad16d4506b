import type { MoveOptions, MoveStep } from '@orrery/runtime/operator';

type Progress = Parameters<NonNullable<MoveOptions['onProgress']>>[0];

/** What an operator reads of a step, whether the command carries the move out or watches it. */
export const STEP_TEXTS: Readonly<Partial<Record<MoveStep, string>>> = {
  subscribed: 'rows are copied while its deployments are executed',
  in_step: 'the copy follows every commit',
  fenced: 'without owner',
};

/** How far a copy is that has been under way for so long. */
export function progressText(
  { tables, inStep, entries, ofEntries, errors }: Progress,
  forMs: number,
): string {
  const left = entries > 0 ? (forMs * (ofEntries - entries)) / entries : undefined;
  const estimate = left === undefined ? '' : `, about ${Math.ceil(Math.max(0, left) / 1000)} s left`;
  const trouble = errors > 0 ? `; ${errors} errors, which the log of the target's server names` : '';
  return `${inStep} of ${tables} tables, ${entries} of ${ofEntries} entries${estimate}${trouble}`;
}
