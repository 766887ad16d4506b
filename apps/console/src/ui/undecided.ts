import { OrreryError } from '@orrery/sdk';

/** Whether nobody knows yet what became of a request: sent again with the key that it had, it happens once. */
export const isUndecided = (error: unknown): boolean => error instanceof OrreryError && error.isUndecided;

/**
 * What is said above an error of a change: "It was not run", or "No key was made". Where the answer alone was lost it may
 * have been, and nobody is told that it was not.
 */
export const failedTitle = (error: unknown, failed: string): string =>
  isUndecided(error) ? `It is not known whether ${doneOf(failed)}` : failed;

/** `it was run` of "It was not run". */
function doneOf(failed: string): string {
  const done = failed.replace(/^No /, 'A ').replace(' not ', ' ');
  return done.charAt(0).toLowerCase() + done.slice(1);
}
