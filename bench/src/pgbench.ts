import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { runTool } from './run-tool.js';

export interface Pgbench {
  readonly databaseUrl: string;
  readonly seconds: number;
  readonly rows: number;
}

const CLIENTS = 16;

/** The runtime's own tables under another name, with all their indexes, and one instance for each row. */
export async function preparePgbench(databaseUrl: string, rows: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('create schema bench');
    await client.query('create sequence bench.seq cache 1000');
    for (const table of ['instances', 'journal', 'outbox']) {
      await client.query(`create table bench.${table} (like runtime.${table} including all)`);
    }
    await client.query(
      `insert into bench.instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
       select n, n, 'counter', 'one', '{"value":0}', 1, now(), now() from generate_series(1, $1::int) n`,
      [rows],
    );
  } finally {
    await client.end();
  }
}

/** Transactions a second: an update of a state, a journal entry, an outbox row, one transaction each. */
export async function runPgbench({ databaseUrl, seconds, rows }: Pgbench): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-pgbench-'));
  try {
    const script = join(folder, 'execution.sql');
    await writeFile(script, scriptFor(rows));
    const args = [
      '-n',
      '-M',
      'prepared',
      '-c',
      String(CLIENTS),
      '-j',
      '1',
      '-T',
      String(seconds),
      '-f',
      script,
    ];
    const printed = await runTool('pgbench', [...args, databaseUrl]);
    return Number(/tps = ([\d.]+)/.exec(printed)?.[1]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
