import { type ErrorCode, ServiceError } from '@orrery/contracts';

export const CLAIM_KINDS = ['world', 'version', 'schema'] as const;
export type ClaimKind = (typeof CLAIM_KINDS)[number];

/** A deployment's reference to a definition, as its row says it. */
interface Claim {
  readonly kind: ClaimKind;
  readonly target_id: number;
}

/** The references that a deployment still holds, as its owner answers. */
export interface Held {
  exists: boolean;
  versionIds: number[];
  schemaIds: number[];
}

export const idsOf = (claims: readonly Claim[], kind: ClaimKind): number[] =>
  claims.filter((claim) => claim.kind === kind).map(({ target_id }) => target_id);

/** The claims of a deployment that it does not hold: all if it is gone. It holds its world as long as it exists. */
export function notHeld<C extends Claim>(
  claims: readonly C[],
  { exists, versionIds, schemaIds }: Held,
): readonly C[] {
  if (!exists) return claims;
  const held = { world: idsOf(claims, 'world'), version: versionIds, schema: schemaIds };
  return claims.filter(({ kind, target_id }) => !held[kind].includes(target_id));
}

const MAX_NAMED = 10;
/** How many users to look for: one more than is named tells that there are others. */
export const USERS_SOUGHT = MAX_NAMED + 1;

type InUse = Extract<ErrorCode, `${string}_in_use`>;

/** Refuses to delete or rename what somebody uses: says who, and what to do first. @throws ServiceError `code` */
export function refuseInUse(
  code: InUse,
  { what, users, advice }: { what: string; users: readonly string[]; advice: string },
): void {
  if (users.length === 0) return;
  const usedBy = users.slice(0, MAX_NAMED);
  throw new ServiceError(code, `${what}: ${namedUsers(users)}. ${advice}`, { facts: { usedBy } });
}

/** Some of the users, for a sentence. */
export const namedUsers = (users: readonly string[]): string =>
  `${users.slice(0, MAX_NAMED).join(', ')}${users.length > MAX_NAMED ? ' and others' : ''}`;
