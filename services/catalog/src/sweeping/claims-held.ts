import type { ClaimRow } from '../database/schema.js';

/** What the owner of a deployment says it still refers to. */
export interface Held {
  exists: boolean;
  versionIds: number[];
  schemaIds: number[];
}

export const idsOf = (claims: readonly ClaimRow[], kind: ClaimRow['kind']): number[] =>
  claims.filter((claim) => claim.kind === kind).map(({ target_id }) => target_id);

/** Those of a deployment's claims that nothing holds: all of them when it is gone. Its world lasts as long as it. */
export function notHeld(claims: readonly ClaimRow[], { exists, versionIds, schemaIds }: Held): ClaimRow[] {
  if (!exists) return [...claims];
  const held = { world: idsOf(claims, 'world'), version: versionIds, schema: schemaIds };
  return claims.filter(({ kind, target_id }) => !held[kind].includes(target_id));
}
