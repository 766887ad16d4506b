import type { ClaimRow } from '../database/schema.js';

/** The references that a deployment still holds, as its owner answers. */
export interface Held {
  exists: boolean;
  versionIds: number[];
  schemaIds: number[];
}

export const idsOf = (claims: readonly ClaimRow[], kind: ClaimRow['kind']): number[] =>
  claims.filter((claim) => claim.kind === kind).map(({ target_id }) => target_id);

/** The claims of a deployment that it does not hold: all if it is gone. It holds its world as long as it exists. */
export function notHeld(claims: readonly ClaimRow[], { exists, versionIds, schemaIds }: Held): ClaimRow[] {
  if (!exists) return [...claims];
  const held = { world: idsOf(claims, 'world'), version: versionIds, schema: schemaIds };
  return claims.filter(({ kind, target_id }) => !held[kind].includes(target_id));
}
