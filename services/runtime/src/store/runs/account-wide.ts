import { sql } from 'kysely';
import type { DirectoryDb } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';

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
  await sql`
    insert into ai_usage as known select * from jsonb_populate_recordset(null::ai_usage, cast(${usage} as jsonb))
    on conflict (deployment_id, day, event) do update set usd = excluded.usd where known.usd < excluded.usd`.execute(
    directory,
  );
}
