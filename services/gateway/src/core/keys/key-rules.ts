import { fieldProblem, type Scope, ServiceError } from '@orrery/contracts';
import type { Principal } from '../requests/operation.js';

/** A key may not create a stronger one: otherwise the scope `keys` would include all others. */
export function refuseWiderScopes({ scopes }: Principal, wanted: readonly Scope[]): void {
  const lacking = wanted.filter((scope) => !scopes.includes(scope));
  if (lacking.length > 0)
    throw new ServiceError('forbidden', `Your own key lacks these scopes: ${lacking.join(', ')}.`);
}

/** A key may not create one that is good for longer: otherwise a token of a day would be one for ever. */
export function refuseLongerLife(
  { expires_at: end }: { expires_at: Date | null },
  wanted: Date | null,
): void {
  if (end === null || (wanted !== null && wanted <= end)) return;
  throw new ServiceError(
    'forbidden',
    `Your own key ends at ${end.toISOString()}, and no key that it makes or replaces may be good for longer. A longer one ` +
      'needs the signature of the account\'s wallet (POST /auth/challenge with "purpose": "key") or the operator.',
  );
}

/** When a key is to end; undefined where nothing is said. @throws ServiceError `validation_failed` for a time that has passed. */
export function expiryOf(text: string | undefined, now: number): Date | undefined {
  if (text === undefined) return undefined;
  const expiresAt = new Date(text);
  if (expiresAt.getTime() > now) return expiresAt;
  const problem = fieldProblem('/expiresAt', 'in_the_past', 'The time of expiry must be in the future.');
  throw new ServiceError('validation_failed', `${problem.pointer}: ${problem.message}`, {
    errors: [problem],
  });
}
