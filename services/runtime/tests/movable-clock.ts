import { withClient } from '@orrery/testing/servers';

/**
 * Lets a test set the clock of its database: there `clock_timestamp()` is a function of our own from now on. Statements that
 * were prepared before keep the real one, so nothing may be connected yet.
 */
export async function movableClock(databaseUrl: string) {
  const query = (text: string, values: unknown[] = []) =>
    withClient(databaseUrl, (client) => client.query(text, values));
  await query(`
    set allow_system_table_mods = on;
    create table public.clock_offset (ms bigint not null);
    insert into public.clock_offset values (0);
    alter function pg_catalog.clock_timestamp() rename to real_clock_timestamp;
    create function pg_catalog.clock_timestamp() returns timestamptz language sql volatile as
      'select pg_catalog.real_clock_timestamp() + (select ms from public.clock_offset) * interval ''1 millisecond''';
  `);
  return {
    /** Milliseconds that it is ahead of the real one. */
    set: (ms: number) => query('update public.clock_offset set ms = $1', [ms]),
    /** Whether a time is past by the real clock. */
    isPast: async (time: string): Promise<boolean> =>
      (await query('select pg_catalog.real_clock_timestamp() > $1::timestamptz as past', [time])).rows[0]
        ?.past,
  };
}
