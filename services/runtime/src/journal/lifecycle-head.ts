import { INNER_KINDS } from '@orrery/contracts';
import { type Expression, type RawBuilder, sql } from 'kysely';

/** PostgreSQL uses the index `journal_lifecycle` for exactly this condition on the journal `j`. */
export const IS_LIFECYCLE: RawBuilder<boolean> = sql.raw(
  `j.kind not in (${INNER_KINDS.map((kind) => `'${kind}'`).join(', ')})`,
);

/** A lateral table `e` with the seq and hash of a deployment's last lifecycle entry. */
export const lastLifecycle = (deploymentId: Expression<unknown>): RawBuilder<unknown> => sql`(
  select j.seq, j.hash from journal j where j.deployment_id = ${deploymentId} and ${IS_LIFECYCLE}
  order by j.seq desc limit 1
) e`;
