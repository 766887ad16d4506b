import { journalEntry } from '@orrery/contracts';
import { hasRows } from './batch-rows.js';

/**
 * The planner assumes that a range of unknown bounds selects few rows, so it looks each row up by its key, however small
 * the tables were when it made the plan. Otherwise it joins whole tables: a quarter of a small batch's time at 1,000 rows.
 */
const FEW = `n.deployment_id between 1 and ${Number.MAX_SAFE_INTEGER}`;

const COLUMNS = `deployment_id, seq, id, v, kind, event, event_version, version_hash, trigger, caller, status,
    input, changes, result, error, llm_hash, attestation, payment_key, executed_at, prev_hash, hash,
    llm, pushes, duration_ms`;

/**
 * `$1` the process, `$2` its leases, then the rows. It first locks the lease rows (`FOR KEY SHARE`: renewals proceed,
 * takeovers wait). Unless all leases are still held under the same epochs, it writes nothing: a process that has lost its
 * lease changes nothing. Every statement that locks several leases locks them in the order of their ids.
 */
const ALWAYS = `
with lease as materialized (
  select p.id from partitions p
  join jsonb_to_recordset($2::jsonb) as l (partition smallint, epoch bigint) on p.id = l.partition
  where p.owner = $1 and p.epoch = l.epoch
  order by p.id for key share of p
), held as materialized (
  select (select count(*) from lease) = jsonb_array_length($2::jsonb) as ok
), entry as materialized (
  select e.*, nullif(given, 'null') as input
  from rows from (unnest(string_to_array($4, e'\\n')::jsonb[]), unnest(string_to_array($5, e'\\n')::jsonb[]),
    unnest($3::new_entry[])) with ordinality as e (given, changes)
  where (select ok from held)
), entries as (
  insert into journal (${COLUMNS}) select ${COLUMNS} from entry
), facts as (
  insert into outbox (name, ordering_key, ordering_seq, message_id)
  select '${journalEntry.name}', deployment, seq, id::text from entry order by ordinality
), heads as (
  update journal_heads h set seq = n.seq, hash = n.hash, totals = n.totals
  from unnest($6::new_head[]) n
  where h.deployment_id = n.deployment_id and ${FEW} and (select ok from held)
), updated as (
  update instances i set state = n.state, revision = n.revision, updated_at = n.updated_at,
    id = coalesce(n.id, i.id), created_at = coalesce(n.created_at, i.created_at)
  from unnest($7::new_state[]) n
  where i.deployment_id = n.deployment_id and i.entity_schema = n.entity_schema
    and i.instance_id = n.instance_id and ${FEW} and (select ok from held)
), touched as (
  insert into instance_changes (deployment_id, entity_schema, instance_id, seq)
  select deployment_id, entity_schema, instance_id, seq from unnest($8::new_change[])
  where (select ok from held)
)`;

/** Parts that few batches have rows for. Each part without rows still costs a twentieth of a small batch's time. */
const SOMETIMES = `, created as (
  insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
  select id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at
  from unnest($9::new_state[]) where (select ok from held)
), removed as (
  delete from instances i
  using jsonb_to_recordset($10::jsonb) as n (deployment_id bigint, entity_schema text, instance_id text)
  where i.deployment_id = n.deployment_id and i.entity_schema = n.entity_schema
    and i.instance_id = n.instance_id and ${FEW} and (select ok from held)
), checkpoints as (
  insert into kept_states (deployment_id, entity_schema, instance_id, seq, revision, state)
  select d, s, i, seq, r, nullif(state, 'null')
  from jsonb_to_recordset($11::jsonb) as n (d bigint, s text, i text, seq bigint, r integer, state jsonb)
  where (select ok from held)
), claimed as (
  insert into claimed_schemas (deployment_id, entity_schema, schema_id)
  select "deploymentId", "entitySchema", "schemaId"
  from jsonb_to_recordset($12::jsonb) as n ("deploymentId" bigint, "entitySchema" text, "schemaId" bigint)
  where (select ok from held)
  on conflict (deployment_id, entity_schema) do update set schema_id = excluded.schema_id
), keys as (
  insert into idempotency_keys (account_id, operation, key, request_hash, reply, created_at)
  select a, o, k, h, reply, at
  from jsonb_to_recordset($13::jsonb) as n (a bigint, o text, k text, h text, reply json, at timestamptz)
  where (select ok from held)
)`;

const RESULT = `
select ok from held`;

/** The number of parameters that precede those of `SOMETIMES`. */
const ALWAYS_PARAMETERS = 8;

const PLAIN = { name: 'commit-plain-batch', text: ALWAYS + RESULT };
export const COMMIT_STATEMENT = { name: 'commit-batch', text: ALWAYS + SOMETIMES + RESULT };

/** The whole batch as one statement: one round trip and one flush. `values` are those of `batchRows`. */
export function commitStatement(values: readonly string[]) {
  const isPlain = !values.slice(ALWAYS_PARAMETERS).some(hasRows);
  return isPlain
    ? { ...PLAIN, values: values.slice(0, ALWAYS_PARAMETERS) }
    : { ...COMMIT_STATEMENT, values: [...values] };
}
