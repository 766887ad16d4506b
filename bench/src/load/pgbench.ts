import { withClient } from '@orrery/testing/servers';
import { runTool } from '../measuring/run-tool.js';

export interface Pgbench {
  readonly databaseUrl: string;
  readonly seconds: number;
  readonly rows: number;
}

const CLIENTS = 16;

/** The runtime's own tables under another name, with all their indexes, and one instance for each row. */
export const preparePgbench = (databaseUrl: string, rows: number): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    await client.query('create schema bench');
    await client.query('create sequence bench.seq cache 1000');
    for (const table of ['instances', 'journal', 'outbox'])
      await client.query(`create table bench.${table} (like runtime.${table} including all)`);
    await client.query(
      `insert into bench.instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
       select n, n, 'counter', 'one', '{"value":0}', 1, now(), now() from generate_series(1, $1::int) n`,
      [rows],
    );
  });

/** Transactions a second: an update of a state, a journal entry, an outbox row, one transaction each. */
export async function runPgbench({ databaseUrl, seconds, rows }: Pgbench): Promise<number> {
  const options = ['-n', '-M', 'prepared', '-c', String(CLIENTS), '-j', '1', '-T', String(seconds)];
  const printed = await runTool('pgbench', scriptFor(rows), (file) => [...options, '-f', file, databaseUrl]);
  return Number(/tps = ([\d.]+)/.exec(printed)?.[1]);
}

const HASH = 'a'.repeat(64);

const scriptFor = (rows: number): string => `
\\set id random(1, ${rows})
begin;
update bench.instances set state = jsonb_build_object('value', (state->>'value')::int + 1), revision = revision + 1,
  updated_at = now() where deployment_id = :id and entity_schema = 'counter' and instance_id = 'one';
insert into bench.journal (deployment_id, seq, id, v, kind, event, event_version, version_hash, trigger, caller, status,
  input, changes, result, executed_at, prev_hash, hash, duration_ms)
  values (:id, nextval('bench.seq'), gen_random_uuid(), 1, 'execution', 'tick', 1, '${HASH}', 'admin', 'account:1',
  'succeeded', '{"id":"one","by":1}',
  '[{"entitySchema":"counter","instanceId":"one","op":"update","set":{"value":1},"unset":[],"revision":2}]', null, now(),
  '${HASH}', '${HASH}', 0.5);
insert into bench.outbox (name, ordering_key, ordering_seq, message_id)
  values ('journal.entry', :id::text, 1, gen_random_uuid()::text);
commit;
`;
