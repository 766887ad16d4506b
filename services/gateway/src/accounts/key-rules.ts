import { fieldProblem, type Scope, ServiceError } from '@orrery/contracts';
import type { Principal } from '../operations/operation.js';

/** A key may not create a stronger one: otherwise the scope `keys` would include all others. */
export function refuseWiderScopes({ scopes }: Principal, wanted: readonly Scope[]): void {
  const lacking = wanted.filter((scope) => !scopes.includes(scope));
  if (lacking.length > 0)
    throw new ServiceError('forbidden', `Your own key lacks these scopes: ${lacking.join(', ')}.`);
}

/** When a key ends, or null for never. @throws ServiceError `validation_failed` for a time that has passed. */
export function expiryOf(text: string | undefined, now: number): Date | null {
  if (text === undefined) return null;
  const expiresAt = new Date(text);
  if (expiresAt.getTime() > now) return expiresAt;
  const problem = fieldProblem('/expiresAt', 'in_the_past', 'The time of expiry must be in the future.');
  throw new ServiceError('validation_failed', `${problem.pointer}: ${problem.message}`, {
    errors: [problem],
  });
}
