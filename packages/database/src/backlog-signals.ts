import { createMeter, isMetered } from '@orrery/service-kit';
import type pg from 'pg';

/** A collection of metrics waits no longer for the database, in milliseconds. */
const PATIENCE_MS = 1000;

const OUTBOX = `select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as value from outbox`;
const DEAD_LETTERS =
  'select consumer, count(distinct ordering_key)::float8 as value from inbox_parked group by consumer';

interface Watched {
  readonly schema: string;
  readonly pool: Pick<pg.Pool, 'query'>;
}

/**
 * Gauges of what waits in a service's schema: messages that are not published, deployments that a dead letter has
 * stopped. A schema without these tables has none. While the database is away they are not reported.
 */
export async function watchBacklogs({ schema, pool }: Watched): Promise<void> {
  if (!isMetered()) return;
  const meter = createMeter('database');
  const { rows } = await pool.query(
    `select to_regclass('outbox') is not null as outbox, to_regclass('inbox_parked') is not null as inbox`,
  );
  if (rows[0]?.outbox)
    meter
      .createObservableGauge('orrery_outbox_oldest_seconds', { description: 'Age of the oldest message' })
      .addCallback(async (result) => {
        for (const { value } of await inTime(pool, OUTBOX)) result.observe(value, { schema });
      });
  if (rows[0]?.inbox)
    meter
      .createObservableGauge('orrery_consumer_dead_letters', { description: 'Deployments that stand still' })
      .addCallback(async (result) => {
        for (const { consumer = '', value } of await inTime(pool, DEAD_LETTERS))
          result.observe(value, { consumer });
      });
}

interface Row {
  readonly value: number;
  readonly consumer?: string;
}

/** No rows while the database does not answer. */
async function inTime(pool: Watched['pool'], statement: string): Promise<readonly Row[]> {
  const late = new Promise<readonly Row[]>((resolve) => setTimeout(() => resolve([]), PATIENCE_MS).unref());
  const read = pool.query<Row>(statement).then(
    ({ rows }) => rows,
    () => [],
  );
  return Promise.race([read, late]);
}
