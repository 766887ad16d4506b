import { Client } from 'pg';

/**
 * Moves by itself: leases, the bus's own bookkeeping, counts of uses, how far other services are followed. Executions are
 * counted when somebody looks.
 */
const VOLATILE = [
  'members',
  'partitions',
  'outbox',
  'inbox_positions',
  'account_quotas',
  'activity',
  'activity_heads',
  'progress',
  'pending_syncs',
];

/** Every row of every service, by table, as text that can be compared; the answer of one statement. */
export interface StoredDump extends AsyncDisposable {
  read(): Promise<Record<string, string[]>>;
}

export async function openDump(databaseUrl: string): Promise<StoredDump> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where (table_schema in ('catalog', 'runtime', 'gateway', 'scheduler') or table_name = 'webhooks') and table_type = 'BASE TABLE'
        and table_name <> all($1) order by 1`,
    [VOLATILE],
  );
  const parts = tables.map(
    ({ name }) =>
      // One object a table: a function takes at most 100 arguments.
      `jsonb_build_object('${name}', (select coalesce(jsonb_agg(r order by r), '[]') from (select (to_jsonb(t) - 'last_used_at' - 'published')::text as r from ${name} t) x))`,
  );
  return {
    read: async () => (await client.query(`select ${parts.join(' || ')} as dump`)).rows[0].dump,
    [Symbol.asyncDispose]: () => client.end(),
  };
}
