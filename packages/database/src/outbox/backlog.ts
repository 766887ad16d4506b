import type { OutboxPlace } from './relay-session.js';

export interface OutboxBacklog {
  /** Waiting rows, counted to 10,000. */
  readonly rows: number;
  /** Age of the oldest, in milliseconds by the database's clock; 0 when none waits. */
  readonly oldestMs: number;
}

/** For the service's metrics: how much waits for its publication, and for how long. */
export async function outboxBacklog({ pool }: OutboxPlace): Promise<OutboxBacklog> {
  const { rows } = await pool.query<OutboxBacklog>(
    `select (select count(*) from (select from outbox limit 10000) as waiting) as rows,
       coalesce((select greatest(0, extract(epoch from now() - created_at) * 1000)::bigint
         from outbox order by id limit 1), 0) as "oldestMs"`,
  );
  return rows[0] ?? { rows: 0, oldestMs: 0 };
}
