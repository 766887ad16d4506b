import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from 'pg';
import { type Latency, quantile } from './steady-load.js';

/** Loads the system until the signal aborts, and tells what API callers noticed. */
export type Load = (signal: AbortSignal) => Promise<Latency>;

export interface Dispatched {
  /** Occurrences a second, from the due time to the outcome of the last. */
  readonly rate: number;
  readonly line: string;
}

/** Waits until `count` schedules that are due at one time have fired, beside a load. */
export async function dispatched(
  client: Client,
  { at, count, load }: { readonly at: Date; readonly count: number; readonly load: Load },
): Promise<Dispatched> {
  await wait(Math.max(0, at.getTime() - Date.now()));
  const [api] = await beside(load, () => untilFired(client, at, count));
  const { last, ...lateness } = await latenessOf(client, at);
  const rate = (count * 1000) / last;
  const line = `${(last / 1000).toFixed(1)} s, ${Math.round(rate)}/s; lateness p50 · p99 ${show(lateness)}; API ${show(api)}`;
  return { rate, line };
}

/** What API callers notice while something is done, and its result. */
export async function beside<T>(load: Load, work: () => Promise<T>): Promise<[Latency, T]> {
  const ended = new AbortController();
  const during = load(ended.signal);
  const result = await work().finally(() => ended.abort());
  return [await during, result];
}

export const show = ({ p50, p99 }: Pick<Latency, 'p50' | 'p99'>) =>
  `${Math.round(p50)} · ${Math.round(p99)} ms`;

/** Schedulers notice within this time what was changed without telling them, in milliseconds. */
const NOTICED_MS = 20_000;

/** Makes all schedules due once more. */
export async function dueSoon(client: Client): Promise<Date> {
  const due = new Date(Date.now() + NOTICED_MS);
  await client.query('update scheduler.schedules set next_at = $1', [due]);
  return due;
}

/** How often it is looked whether all has ended: counting takes the database milliseconds, which everyone would notice. */
export const LOOK_MS = 1000;

export async function until(client: Client, query: string, enough: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ n: number }>(query);
    if ((rows[0]?.n ?? 0) >= enough) return;
    await wait(LOOK_MS);
  }
}

const untilFired = (client: Client, due: Date, count: number) =>
  until(
    client,
    `select count(*)::int as n from scheduler.occurrences
     where status <> 'running' and due_at = '${due.toISOString()}'`,
    count,
  );

/** From the due time to the outcome, in milliseconds. */
async function latenessOf(client: Client, due: Date) {
  const { rows } = await client.query<{ late: number }>(
    `select (extract(epoch from ended_at - $1) * 1000)::float as late from scheduler.occurrences
     where due_at = $1 and status = 'fired' and outcome = 'succeeded' order by 1`,
    [due],
  );
  const sorted = rows.map(({ late }) => late);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), last: sorted.at(-1) ?? Number.NaN };
}
