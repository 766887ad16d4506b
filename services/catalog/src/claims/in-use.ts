import { type ErrorCode, ServiceError } from '@orrery/contracts';

/** Users that an error names at most. */
const MAX_NAMED = 10;
/** How many users to look for: one more than is named tells that there are others. */
export const USERS_SOUGHT = MAX_NAMED + 1;

type InUse = Extract<ErrorCode, `${string}_in_use`>;

/** Something cannot be deleted or renamed: says who uses it, and what to do first. */
export function inUse(
  code: InUse,
  { what, users, advice }: { what: string; users: readonly string[]; advice: string },
): ServiceError {
  const usedBy = users.slice(0, MAX_NAMED);
  return new ServiceError(code, `${what}: ${namedUsers(users)}. ${advice}`, { facts: { usedBy } });
}

/** Some of the users, for a sentence. */
export const namedUsers = (users: readonly string[]): string =>
  `${users.slice(0, MAX_NAMED).join(', ')}${users.length > MAX_NAMED ? ' and others' : ''}`;
