import { fieldProblem, type Scope, ServiceError } from '@orrery/contracts';
import type { Principal } from './principal.js';

/** A key may not make a stronger one: otherwise the scope `keys` would mean all of them. */
export function refuseWiderScopes({ scopes }: Principal, wanted: readonly Scope[]): void {
  const lacking = wanted.filter((scope) => !scopes.includes(scope));
  if (lacking.length > 0)
    throw new ServiceError(
      'forbidden',
      `Your own key lacks the scopes that you ask for: ${lacking.join(', ')}`,
    );
}

/** When a key ends, or null for never. @throws ServiceError `validation_failed` for a time that has passed. */
export function expiryOf(text: string | undefined, now: number): Date | null {
  if (text === undefined) return null;
  const expiresAt = new Date(text);
  if (expiresAt.getTime() > now) return expiresAt;
  const problem = fieldProblem('/expiresAt', 'in_the_past', 'the key would have expired already');
  throw new ServiceError('validation_failed', `${problem.pointer}: ${problem.message}`, {
    errors: [problem],
  });
}
