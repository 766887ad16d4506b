import { BOUND_COLUMNS } from '../state/bindings.js';

// A parameter is named as in `batchRows`, which makes its value; types are in `tables/migrations`.

/**
 * A range that every row is in. The planner has no statistics of a parameter's columns, so it assumes that few of its rows
 * are in a range with literal bounds. It then looks each row up by its key, however small the tables were when it made the
 * plan. Otherwise it joins whole tables: a quarter of a small batch's time at 1,000 rows.
 */
const few = (column: string) => `${column} between 1 and ${Number.MAX_SAFE_INTEGER}`;
const FEW = few('n.deployment_id');
const FEW_RUNS = `n.id between '${'0'.repeat(32)}' and '${'f'.repeat(32)}'`;
/** The same for texts, whatever is in them. */
const fewTexts = (column: string) => `octet_length(${column}) between 0 and 2147483647`;
const FEW_PAYMENTS = fewTexts('n.key');
const FEW_KEYS = fewTexts('n.scope');

const COLUMNS = `deployment_id, seq, id, v, kind, event, event_version, version_hash, trigger, caller, status,
    input, changes, result, error, llm_hash, attestation, payment_key, executed_at, prev_hash, hash,
    llm, pushes, duration_ms, decided_at, evaluator, recorded, failed_code`;

/**
 * The statement first locks the lease rows (`FOR KEY SHARE`: renewals proceed, takeovers wait).
 * Every statement that locks several leases locks them in the order of their ids.
 */
export const LEASES = `lease as materialized (
  select p.id from partitions p
  join jsonb_to_recordset($leases::jsonb) as l (partition smallint, epoch bigint) on p.id = l.partition
  where p.owner = $instance and p.epoch = l.epoch
  order by p.id for key share of p
)`;
export const LEASES_HELD = '(select count(*) from lease) = jsonb_array_length($leases::jsonb)';

/** Whether each journal still ends where this process knows it to end. Only the holder of the lease moves it. */
export const HEADS = `head as materialized (
  select n.deployment_id, h.seq, h.hash, coalesce(h.seq = n.prev_seq and h.hash = n.prev_hash, false) as fits
  from unnest($heads::next_head[]) n
  left join lateral (select seq, hash from journal_heads where deployment_id = n.deployment_id limit 1) h on true
)`;
export const HEADS_FIT = '(select bool_and(fits) from head) is not false';

/** Whether each run is still at the step that its next one follows, and each once-key that is claimed is free. */
export const RUNS = `run_now as materialized (
  select n.id, coalesce(r.step = n.from_step and r.ended_at is null, false) as fits
  from (select (value->>'id')::uuid as id, (value->>'from')::integer as from_step from jsonb_array_elements($stepped::jsonb)) n
  left join lateral (select step, ended_at from runs where id = n.id limit 1) r on true
)`;
export const RUNS_FIT = '(select bool_and(fits) from run_now) is not false';
export const KEYS = `taken as materialized (
  select n.scope, n.key from unnest($onceClaimed::new_once_key[]) n
  cross join lateral (select from once_keys where scope = n.scope and key = n.key limit 1) k
)`;
export const KEYS_FREE = 'not exists (select from taken)';

/** Whether each timer that is taken away is there, and with whom it is expected to be. */
export const TIMERS = `timer_now as materialized (
  select n.id, coalesce(t.id is not null and t.run_id is not distinct from n.was, false) as fits
  from jsonb_to_recordset($timersMoved::jsonb) as n (id uuid, was uuid)
  left join lateral (select id, run_id from timers where id = n.id limit 1) t on true
)`;
export const TIMERS_FIT = '(select bool_and(fits) from timer_now) is not false';

export const ALWAYS = `entry as materialized (
  select e.*, nullif(given, 'null') as input
  from rows from (unnest(string_to_array($inputs, e'\\n')::jsonb[]), unnest(string_to_array($changes, e'\\n')::jsonb[]),
    unnest($entries::written_entry[])) with ordinality as e (given, changes)
  where (select ok from held)
), entries as (
  insert into journal (${COLUMNS}) select ${COLUMNS} from entry
), heads as (
  update journal_heads h set seq = n.seq, hash = n.hash, totals = n.totals,
    active_minute = (select floor(extract(epoch from now()) / 60)::integer)
  from unnest($heads::next_head[]) n
  where h.deployment_id = n.deployment_id and ${FEW} and (select ok from held)
), updated as (
  update instances i set state = n.state, revision = n.revision, updated_at = n.updated_at,
    id = coalesce(n.id, i.id), created_at = coalesce(n.created_at, i.created_at)
  from unnest($updated::new_state[]) n
  where i.deployment_id = n.deployment_id and i.entity_schema = n.entity_schema
    and i.instance_id = n.instance_id and ${FEW} and (select ok from held)
), touched as (
  insert into instance_changes (deployment_id, entity_schema, instance_id, seq)
  select deployment_id, entity_schema, instance_id, seq from unnest($touched::new_change[])
  where (select ok from held)
)`;

/** Parts that some batches have rows for. Each part without rows still costs a twentieth of a small batch's time. */
export const SOMETIMES = `created as (
  insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
  select id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at
  from unnest($created::new_state[]) where (select ok from held)
), removed as (
  delete from instances i
  using jsonb_to_recordset($removed::jsonb) as n (deployment_id bigint, entity_schema text, instance_id text)
  where i.deployment_id = n.deployment_id and i.entity_schema = n.entity_schema
    and i.instance_id = n.instance_id and ${FEW} and (select ok from held)
), states_kept as (
  insert into kept_states (deployment_id, entity_schema, instance_id, seq, revision, state)
  select deployment_id, entity_schema, instance_id, seq, revision, nullif(state, 'null')
  from jsonb_to_recordset($keptStates::jsonb) as n
    (deployment_id bigint, entity_schema text, instance_id text, seq bigint, revision integer, state jsonb)
  where (select ok from held)
), claimed as (
  insert into claimed_schemas (deployment_id, entity_schema, schema_id, claim_revision)
  select deployment_id, entity_schema, schema_id, claim_revision
  from jsonb_populate_recordset(null::claimed_schemas, $claims::jsonb)
  where (select ok from held)
  on conflict (deployment_id, entity_schema)
    do update set schema_id = excluded.schema_id, claim_revision = excluded.claim_revision
), keys as (
  insert into idempotency_keys (account_id, operation, key, request_hash, reply, created_at)
  select account_id, operation, key, request_hash, reply, created_at
  from jsonb_to_recordset($keys::jsonb) as n
    (account_id bigint, operation text, key text, request_hash text, reply json, created_at timestamptz)
  where (select ok from held)
)`;

/** Columns that a step of a run may change, those of a deployment that an item may change, and so on. */
const STEPPED =
  'state, attempts, holding, holds, basis, proposal, reply, error, evidence, staged, deadline, ended_at';
const ACCEPTED = `id, deployment_id, request, request_hash, account_id, operation, key, step, call_id, created_at,
    ${STEPPED}`;
const SETTINGS = `name, description, mode, is_public, owner_paused, operator_paused, account_paused, is_llm_public,
    ai_model_id, ai_daily_budget_usd, pay_to_address, locked_at, definition_hash, locked_definition, deleted_at, updated_at`;
const TIMER_COLUMNS =
  'id, deployment_id, event, input, due_at, key, caller, set_seq, set_index, depth, tree, number, run_id';
const CLAIMED = 'request_hash, deployment_id, run_id, reply, seq, created_at, expires_at';
const PAID = 'status, settling_at, transaction, calls, reason, seq, check_at, updated_at';
const RESERVED = `key, deployment_id, run_id, wallet, event, input_hash, network, asset, amount, decimals, pay_to, payer, offered,
    valid_until, created_at, ${PAID}`;

/** Members of a JSON object become columns; a column without a member stays as it is in `row`. */
const columnsOf = (columns: string, row: string) =>
  `(${columns}) = (select ${columns} from jsonb_populate_record(${row}, n.columns))`;

/** What only batches of public and scheduled executions have: once-keys that are claimed. */
export const ONCE = `once as (
  insert into once_keys (scope, key, ${CLAIMED})
  select scope, key, ${CLAIMED} from unnest($onceClaimed::new_once_key[])
  where (select ok from held)
)`;

/** Parts that few batches have rows for: runs, settings and bindings of deployments, once-keys, payments. */
export const SELDOM = `accepted as (
  insert into runs (${ACCEPTED}) select ${ACCEPTED} from jsonb_populate_recordset(null::runs, $accepted::jsonb)
  where (select ok from held)
), stepped as (
  update runs r set step = n.step, ${columnsOf(STEPPED, 'r')}
  from jsonb_to_recordset($stepped::jsonb) as n (id uuid, step integer, columns jsonb)
  where r.id = n.id and ${FEW_RUNS} and (select ok from held)
), settings as (
  update deployments d set ${columnsOf(SETTINGS, 'd')}
  from jsonb_to_recordset($settings::jsonb) as n (id bigint, columns jsonb)
  where d.id = n.id and ${few('n.id')} and (select ok from held)
), kept as (
  update what_if_forks w set is_kept = (n.columns->>'is_kept')::boolean
  from jsonb_to_recordset($settings::jsonb) as n (id bigint, columns jsonb)
  where w.deployment_id = n.id and n.columns ? 'is_kept' and ${few('n.id')} and (select ok from held)
), random as (
  insert into randomness (deployment_id, commitments)
  select n.id, n.columns->'randomness' from jsonb_to_recordset($settings::jsonb) as n (id bigint, columns jsonb)
  where n.columns ? 'randomness' and (select ok from held)
  on conflict (deployment_id) do update set commitments = excluded.commitments
), code as (
  insert into code_access (deployment_id, is_public) select n.id, (n.columns->>'is_code_public')::boolean
  from jsonb_to_recordset($settings::jsonb) as n (id bigint, columns jsonb)
  where n.columns ? 'is_code_public' and (select ok from held)
  on conflict (deployment_id) do update set is_public = excluded.is_public
), unbound as (
  delete from bindings b using jsonb_to_recordset($unbound::jsonb) as n (deployment_id bigint, event text)
  where b.deployment_id = n.deployment_id and b.event = n.event and ${FEW} and (select ok from held)
), bound as (
  insert into bindings (id, deployment_id, event, ${BOUND_COLUMNS})
  select id, deployment_id, event, ${BOUND_COLUMNS} from jsonb_populate_recordset(null::bindings, $bound::jsonb)
  where (select ok from held)
  on conflict (deployment_id, event)
    do update set (id, ${BOUND_COLUMNS}) = (excluded.id, ${BOUND_COLUMNS.replaceAll(/\w+/g, 'excluded.$&')})
), once_ended as (
  update once_keys k set ${columnsOf(CLAIMED, 'k')}
  from jsonb_to_recordset($onceEnded::jsonb) as n (scope text, key text, columns jsonb)
  where k.scope = n.scope and k.key = n.key and ${FEW_KEYS} and (select ok from held)
), once_released as (
  delete from once_keys k using jsonb_to_recordset($onceReleased::jsonb) as n (scope text, key text)
  where k.scope = n.scope and k.key = n.key and ${FEW_KEYS} and (select ok from held)
), reserved as (
  insert into payments (${RESERVED}) select ${RESERVED} from jsonb_populate_recordset(null::payments, $reserved::jsonb)
  where (select ok from held)
), paid as (
  update payments p set ${columnsOf(PAID, 'p')}
  from jsonb_to_recordset($paid::jsonb) as n (key text, columns jsonb)
  where p.key = n.key and ${FEW_PAYMENTS} and (select ok from held)
), reservations_released as (
  delete from payments p using jsonb_to_recordset($paymentsReleased::jsonb) as n (key text)
  where p.key = n.key and ${FEW_PAYMENTS} and (select ok from held)
)`;

/**
 * What only batches with timers have. Those that are gone are gone before others are inserted, which may have their keys.
 * `timer_heads` is computed from the timers as they were before: without those that are moved, with those that are set.
 */
export const TIMED = `timers_gone as (
  delete from timers t using jsonb_to_recordset($timersMoved::jsonb) as n (id uuid, gone boolean)
  where t.id = n.id and n.gone and ${FEW_RUNS} and (select ok from held) returning t.id
), timers_cancelled as (
  delete from timers t using jsonb_to_recordset($timersCancelled::jsonb) as n (deployment_id bigint)
  where t.deployment_id = n.deployment_id and ${FEW} and (select ok from held)
), timers_moved as (
  update timers t set run_id = n.now, key = null
  from jsonb_to_recordset($timersMoved::jsonb) as n (id uuid, now uuid, gone boolean)
  where t.id = n.id and not n.gone and ${FEW_RUNS} and (select ok from held)
), timers_set as (
  insert into timers (${TIMER_COLUMNS})
  select ${TIMER_COLUMNS} from jsonb_populate_recordset(null::timers, $timersSet::jsonb)
  where (select ok from held) and (select count(*) from timers_gone) >= 0
), timer_heads_next as (
  insert into timer_heads (deployment_id, partition, next_due)
  select n.deployment_id, n.partition, case when n.cancelled then null else least(n.earliest, (
    select t.due_at from timers t
    where t.deployment_id = n.deployment_id and t.run_id is null and t.id <> all(n.without)
    order by t.due_at limit 1)) end
  from jsonb_to_recordset($timerHeads::jsonb) as n
    (deployment_id bigint, partition smallint, earliest timestamptz, without uuid[], cancelled boolean)
  where (select ok from held)
  on conflict (deployment_id) do update set next_due = excluded.next_due
)`;

/** What only deployments have whose schemas declare indexes: values of instances. */
export const INDEXED = `indexed as (
  insert into indexed_values (index_id, instance_id, kind, number, text)
  select index_id, instance_id, kind, number, text from unnest($indexed::indexed_values[])
  where (select ok from held)
  on conflict (index_id, instance_id) do update set kind = excluded.kind, number = excluded.number, text = excluded.text
)`;

/** Beside those, values of instances that are gone, and indexes that are being built. */
export const UNINDEXED = `unindexed as (
  delete from indexed_values v using unnest($unindexed::indexed_values[]) n
  where v.index_id = n.index_id and v.instance_id = n.instance_id and ${few('n.index_id')} and (select ok from held)
), built as (
  update attribute_indexes x set built_to = n.built_to, state = case x.state when 'dropped' then x.state else n.state end
  from jsonb_to_recordset($built::jsonb) as n (id bigint, built_to bigint, state text)
  where x.id = n.id and ${few('n.id')} and (select ok from held)
)`;

export const LEASES_AND_HEADS_RESULT = `ok,
  case when not ok then (select array_agg(id) from lease) end as held,
  case when not ok then (select jsonb_agg(jsonb_build_object('deploymentId', deployment_id, 'seq', seq, 'hash', hash))
    from head where not fits) end as heads`;
export const RUNS_RESULT = `case when not ok then (select jsonb_agg(id) from run_now where not fits) end as runs`;
export const KEYS_RESULT = `case when not ok then (select jsonb_agg(jsonb_build_object('scope', scope, 'key', key)) from taken) end as keys`;

export const TIMERS_RESULT = `case when not ok then (select jsonb_agg(id) from timer_now where not fits) end as timers`;
