import { withClient } from '@orrery/testing/servers';
import type { Rate } from '../measuring/report.js';
import { runTool } from '../measuring/run-tool.js';

export interface Pgbench {
  readonly databaseUrl: string;
  readonly seconds: number;
  /** Transactions under way at once. */
  readonly clients: number;
  readonly script: string;
}

/** Tables for the writes of an execution with nothing but their keys, and one instance for each row. */
export const preparePgbench = (databaseUrl: string, rows: number): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    await client.query(`
      create table instances (id bigint primary key, state jsonb not null, revision bigint not null);
      create table journal (seq bigint generated always as identity primary key, instance bigint not null,
        event text not null, input jsonb not null, changes jsonb not null, executed_at timestamptz not null);
      create table outbox (id bigint generated always as identity primary key, instance bigint not null)`);
    await client.query(
      `insert into instances select n, '{"value":0}', 1 from generate_series(1, $1::int) n`,
      [rows],
    );
  });

/** Transactions a second. */
export async function runPgbench({ databaseUrl, seconds, clients, script }: Pgbench): Promise<Rate> {
  const options = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '1', '-T', String(seconds)];
  const printed = await runTool('pgbench', script, (file) => [...options, '-f', file, databaseUrl]);
  const [count, perSecond] = [/actually processed: (\d+)/, /tps = ([\d.]+)/].map(
    (one) => one.exec(printed)?.[1],
  );
  return { perSecond: Number(perSecond), count: Number(count) };
}

const UPDATE = `update instances set state = jsonb_build_object('value', (state->>'value')::int + 1),
  revision = revision + 1 where id = :id`;
const INSERT = `insert into journal (instance, event, input, changes, executed_at) values (:id, 'tick', '{"id":"one","by":1}',
  '[{"entitySchema":"counter","instanceId":"one","op":"update","set":{"value":1},"revision":2}]', now())`;
const PUBLISH = 'insert into outbox (instance) values (:id)';

/** A state, a journal entry and an outbox row, by three statements in a transaction, each on any of `rows`. */
export const threeStatements = (rows: number): string =>
  [`\\set id random(1, ${rows})`, 'begin;', `${UPDATE};`, `${INSERT};`, `${PUBLISH};`, 'commit;'].join('\n');

/** The same by one statement, always on the same row. */
export const oneStatement: string = [
  '\\set id 1',
  `with updated as (${UPDATE}), inserted as (${INSERT}) ${PUBLISH};`,
].join('\n');
