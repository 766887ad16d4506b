import { withClient } from '@orrery/testing/servers';

export interface LongJournal {
  readonly databaseUrl: string;
  /** Address of a deployment whose journal has its first entry alone. */
  readonly deployment: string;
  readonly entries: number;
  readonly instances: number;
}

/** Instances of which every later entry changes one, so that they are folded from many changes. */
const BUSY = 100;

/**
 * Gives a deployment a long journal, by the tables alone and without hashes: after its first entry each of the next creates
 * a horse, until there are enough, and the others change two each, one of them a busy one. It is for reading alone: its
 * owner in memory knows nothing of it.
 */
export const plantLongJournal = (journal: LongJournal): Promise<void> =>
  withClient(journal.databaseUrl, async (client) => {
    const { deployment, entries, instances } = journal;
    await client.query('set search_path to runtime');
    const { rows } = await client.query('select id from deployments where address = $1', [deployment]);
    for (const statement of statementsOf(rows[0].id, entries, instances)) await client.query(statement);
  });

const statementsOf = (id: number, entries: number, instances: number): string[] => [
  `create temp table changed as
    select seq, n, row_number() over (partition by n order by seq)::integer as revision from (
      select seq, seq - 1 as n from generate_series(2, ${instances + 1}) seq
      union all
      select seq, 1 + (seq::bigint * 7919) % ${instances - BUSY} from generate_series(${instances + 2}, ${entries}) seq
      union all
      select seq, ${instances - BUSY + 1} + seq % ${BUSY} from generate_series(${instances + 2}, ${entries}) seq) c`,
  `insert into journal (deployment_id, seq, id, v, kind, event, event_version, version_hash, trigger, caller, status, input,
      changes, executed_at, prev_hash, hash)
    select ${id}, seq, gen_random_uuid(), 1, 'execution', 'race_result', 1, repeat('0', 64), 'admin', 'account:1',
      'succeeded', '{}', jsonb_agg(jsonb_build_object('entitySchema', 'horse', 'instanceId', 'H' || n,
        'op', case when revision = 1 then 'create' else 'update' end, 'revision', revision,
        'set', jsonb_build_object('wins', seq, 'speed', 10, 'stamina', seq % 100), 'unset', '[]'::jsonb)),
      now(), repeat('0', 64), repeat('0', 64)
    from changed group by seq`,
  `insert into instance_changes select ${id}, 'horse', 'H' || n, seq from changed`,
  `insert into kept_states select ${id}, 'horse', 'H' || n, seq, revision,
      jsonb_build_object('wins', seq, 'speed', 10, 'stamina', seq % 100) from changed where revision % 100 = 0`,
  `insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
    select 1000000 + n, ${id}, 'horse', 'H' || n,
      jsonb_build_object('wins', max(seq), 'speed', 10, 'stamina', max(seq) % 100), max(revision), now(), now()
    from changed group by n`,
  `update journal_heads set seq = ${entries}, hash = repeat('0', 64),
      totals = totals || '{"entries": ${entries}, "instances": ${instances}}' where deployment_id = ${id}`,
  'analyze journal, instance_changes, kept_states, instances',
];
