import { sql } from 'kysely';
import type { DirectoryDb } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';
import type { RequestCost } from './usage-store.js';

/** A payment is kept for so long after it can no longer be charged. */
const KEPT = sql`interval '1 day'`;

/**
 * Claims a payment for a deployment, of all that live in any database. The keys of the deployment's database say whether it was
 * used there. @returns whether it is this deployment's
 */
export async function claimPayment(
  directory: DirectoryDb,
  { key, deploymentId, validUntil }: { key: string; deploymentId: number; validUntil: number },
): Promise<boolean> {
  await sql`
    insert into payments (key, deployment_id, valid_until)
    values (${key}, ${deploymentId}, ${new Date(validUntil)}) on conflict do nothing`.execute(directory);
  const { rows } = await sql<{ deployment_id: number }>`
    select deployment_id from payments where key = ${key}`.execute(directory);
  return rows[0]?.deployment_id === deploymentId;
}

/** Forgets payments that nobody can charge any more. */
export async function forgetPayments(directory: DirectoryDb): Promise<void> {
  await sql`delete from payments where valid_until < now() - ${KEPT}`.execute(directory);
}

interface Copied {
  readonly payments: string;
  readonly usage: string;
}

/**
 * Lets the directory have what this database knows of payments that may still be charged, and of what models have cost since
 * yesterday: from a time when there was one database, or from a process that did not know yet that there are several.
 */
export async function copyAccountWide(db: Db, directory: DirectoryDb): Promise<void> {
  const { rows } = await sql<Copied>`
    select (select coalesce(jsonb_agg(jsonb_build_object('key', key, 'id', deployment_id, 'until', valid_until)), '[]')
        from payments where valid_until > now())::text as payments,
      (select coalesce(jsonb_agg(u), '[]') from ai_usage u where day >= (now() at time zone 'utc')::date - 1)::text as usage`.execute(
    db,
  );
  const { payments, usage } = rows[0] ?? { payments: '[]', usage: '[]' };
  await sql`
    insert into payments (key, deployment_id, valid_until)
    select key, id, until from jsonb_to_recordset(cast(${payments} as jsonb)) as p (key text, id bigint, until timestamptz)
    on conflict do nothing`.execute(directory);
  await putUsage(directory, usage, []);
}

/** Lets the directory have what this database has counted by these costs, and ends their reservations there. */
export async function tellUsage(
  db: Db,
  directory: DirectoryDb,
  costs: readonly RequestCost[],
): Promise<void> {
  const counted = costs.map(({ payer: { deploymentId, event }, day }) => ({ deploymentId, event, day }));
  const { rows } = await sql<{ usage: string }>`
    select coalesce(jsonb_agg(u), '[]')::text as usage from ai_usage u
    where (deployment_id, day, event) in (
      select "deploymentId", day, event
      from jsonb_to_recordset(cast(${JSON.stringify(counted)} as jsonb)) as c ("deploymentId" bigint, day date, event text)
    )`.execute(db);
  const reservations = costs.flatMap(({ reservation }) => reservation ?? []);
  await putUsage(directory, rows[0]?.usage ?? '[]', reservations);
}

/**
 * A deployment counts in its own database, and the counts only grow. So the directory takes over the highest that it is told,
 * and hearing it twice, or late, changes nothing.
 */
async function putUsage(
  directory: DirectoryDb,
  usage: string,
  reservations: readonly string[],
): Promise<void> {
  await sql`
    with released as (delete from ai_reservations where id = any(${[...reservations]}::uuid[]))
    insert into ai_usage as known
      (deployment_id, day, event, account_id, calls, input_tokens, output_tokens, usd)
    select deployment_id, day, event, account_id, calls, input_tokens, output_tokens, usd
    from jsonb_populate_recordset(null::ai_usage, cast(${usage} as jsonb)) order by deployment_id, day, event
    on conflict (deployment_id, day, event) do update
      set calls = greatest(known.calls, excluded.calls),
        input_tokens = greatest(known.input_tokens, excluded.input_tokens),
        output_tokens = greatest(known.output_tokens, excluded.output_tokens),
        usd = greatest(known.usd, excluded.usd)`.execute(directory);
}
