import { type RawBuilder, sql } from 'kysely';
import type { TestDb } from './journal-fixture.js';

/** Rows that are written at once: a statement has its time. */
const AT_ONCE = 50_000;

/**
 * Writes the journal of a deployment of so many executions, as far as counting looks at them: with latencies of all sizes,
 * every fiftieth failed. `at`: the time of entry `n`, which must rise.
 */
export async function plantMany(
  db: TestDb,
  deploymentId: number,
  entries: number,
  at: (n: RawBuilder<unknown>) => RawBuilder<unknown>,
  events = 1,
): Promise<void> {
  for (let first = 1; first <= entries; first += AT_ONCE)
    await sql`
      insert into journal (deployment_id, seq, id, v, kind, event, trigger, caller, status, error, changes, executed_at,
        prev_hash, hash, duration_ms)
      select ${deploymentId}, n, gen_random_uuid(), 2, 'execution', 'event ' || n % ${events}::integer, 'admin', 'account:7',
        case when n % 50 = 0 then 'failed' else 'succeeded' end,
        case when n % 50 = 0 then '{"code":"template_failed"}'::jsonb end, '[]', ${at(sql.raw('n'))}, '', '',
        exp(n % 97 / 10.0)
      from generate_series(${first}::integer, ${Math.min(first + AT_ONCE - 1, entries)}::integer) n`.execute(
      db,
    );
}
