import { INNER_KINDS, LIFECYCLE_KINDS } from '@orrery/contracts';
import { type Expression, type RawBuilder, sql } from 'kysely';

const listed = (kinds: readonly string[]): string => kinds.map((kind) => `'${kind}'`).join(', ');

/**
 * PostgreSQL uses the index `journal_lifecycle` for exactly the first condition on the journal `j`. The second leaves out
 * kinds of a later release, of which this one cannot say what they are.
 */
export const IS_LIFECYCLE: RawBuilder<boolean> = sql.raw(
  `j.kind not in (${listed(INNER_KINDS)}) and j.kind in (${listed(LIFECYCLE_KINDS)})`,
);

/** A lateral table `e` with the seq and hash of a deployment's last lifecycle entry. */
export const lastLifecycle = (deploymentId: Expression<unknown>): RawBuilder<unknown> => sql`(
  select j.seq, j.hash from journal j where j.deployment_id = ${deploymentId} and ${IS_LIFECYCLE}
  order by j.seq desc limit 1
) e`;
