import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from 'pg';

const IDLE_SECONDS = 30;
/** Of Linux, in which `/proc` counts. */
const TICKS_PER_SECOND = 100;

/** What the scheduler with this process id uses while nothing is due, before and after `idle` schedules more are there. */
export async function measureIdle(
  pid: number,
  client: Client,
  { idle, write }: { readonly idle: number; readonly write: (line: string) => void },
): Promise<void> {
  const measure = async () => {
    const [from, fromStatements] = [await cpuTicks(pid), await statements(client)];
    await wait(IDLE_SECONDS * 1000);
    const percent = ((await cpuTicks(pid)) - from) / TICKS_PER_SECOND / IDLE_SECONDS;
    return `${(percent * 100).toFixed(2)} % of a core, ${Math.round((await statements(client)) - fromStatements)} transactions in ${IDLE_SECONDS} s`;
  };
  await wait(5000);
  write(`idle: ${await measure()}`);
  await client.query(
    `insert into scheduler.schedules (deployment, world_id, world_address, event, schedule, next_at, decided_until)
     select '0x' || lpad(to_hex(n), 40, '0'), 1, '', 'idle', '0 0 1 1 *', now() + interval '30 days', now()
     from generate_series(1, $1::int) n`,
    [idle],
  );
  await client.query('analyze scheduler.schedules');
  write(`idle with ${idle} schedules: ${await measure()}`);
}

/** Time of the processor that a process has used. */
async function cpuTicks(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

/** Of all services. */
async function statements(client: Client): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    'select sum(xact_commit)::float as n from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.n ?? 0;
}
