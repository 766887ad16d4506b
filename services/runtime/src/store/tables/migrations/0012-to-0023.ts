import { type Migrations, outboxShardIndex, outboxShards, statements } from '@orrery/database';

/** Released: none is ever changed. */
export const until0023: Migrations = {
  /**
   * `once_keys`: what may be executed once, whoever asks: a signed message, an occurrence of a schedule, a payment. `reply`
   * is null while the execution that claimed the key is under way; `run_id` names its run, if it has one. `expires_at` is
   * null for keys that are kept until they are released.
   */
  '0012_once_keys': statements(`
    create table runtime.once_keys (
      scope text collate "C" not null,
      key text collate "C" not null,
      request_hash text not null,
      deployment_id bigint not null,
      run_id uuid,
      reply json,
      created_at timestamptz not null,
      expires_at timestamptz,
      primary key (scope, key)
    );
    create index once_keys_run on runtime.once_keys (run_id) where run_id is not null;
    create index once_keys_expiry on runtime.once_keys (expires_at) where expires_at is not null;
  `),
  /**
   * The catalog's revision of the claim behind a claimed schema or a binding: a claim is released by its revision, so that
   * a late release never removes a newer claim. Null where the claim is older than this column.
   */
  '0013_claim_revisions': statements(`
    alter table runtime.claimed_schemas add column claim_revision integer;
    alter table runtime.bindings add column claim_revision integer;
  `),
  '0014_outbox_shards': outboxShards,
  /**
   * Deployments that the operator wants paused, or no longer paused. The command `orrery` writes it; the owners carry it
   * out, each with an entry in its journal.
   */
  '0015_operator_pauses': statements(`
    create table runtime.operator_pauses (
      deployment_id bigint primary key references runtime.deployments (id),
      paused boolean not null
    );
  `),
  '0016_outbox_shard_index': outboxShardIndex,
  /**
   * `payments`: the payment of each execution that a wallet has paid for, for ever. Its states are at the top of
   * `payments/payment.ts`. `runs.staged` is what an execution commits once its payment is settled. `payment_totals` counts
   * the payments of a deployment by status and asset; a trigger keeps it, in the transaction that changes a payment.
   */
  '0017_payments': statements(`
    alter table runtime.runs add column staged jsonb;
    create table runtime.payments (
      key text collate "C" primary key,
      number bigint generated always as identity,
      deployment_id bigint not null references runtime.deployments (id),
      run_id uuid not null,
      status text not null check (status in
        ('reserved', 'staged', 'settling', 'settled', 'released', 'refused', 'unknown', 'uncollected')),
      wallet text not null,
      event text not null,
      input_hash text not null,
      network text not null,
      asset text not null,
      amount numeric(78) not null,
      decimals smallint not null,
      pay_to text not null,
      payer text not null,
      offered jsonb not null,
      valid_until timestamptz not null,
      settling_at timestamptz,
      transaction text,
      reason text,
      seq bigint,
      check_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index payments_of_deployment on runtime.payments (deployment_id, number desc);
    create index payments_by_status on runtime.payments (deployment_id, status, number desc);
    create index payments_of_run on runtime.payments (run_id);
    create index payments_to_check on runtime.payments (check_at) where check_at is not null;
    create table runtime.payment_totals (
      deployment_id bigint not null references runtime.deployments (id),
      network text not null,
      asset text not null,
      decimals smallint not null,
      status text not null,
      payments bigint not null,
      amount numeric(90) not null,
      primary key (deployment_id, network, asset, status)
    );
    create function runtime.count_payment() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' then
        update runtime.payment_totals set payments = payments - 1, amount = amount - old.amount
        where deployment_id = old.deployment_id and network = old.network and asset = old.asset
          and status = old.status;
      end if;
      if tg_op <> 'DELETE' then
        insert into runtime.payment_totals as t
          (deployment_id, network, asset, decimals, status, payments, amount)
        values (new.deployment_id, new.network, new.asset, new.decimals, new.status, 1, new.amount)
        on conflict (deployment_id, network, asset, status)
          do update set payments = t.payments + 1, amount = t.amount + new.amount;
      end if;
      return null;
    end $$;
    create trigger count_payment after insert or delete or update of status on runtime.payments
    for each row execute function runtime.count_payment();
  `),
  /** Finds a deployment's lifecycle entries among its executions. Executions and instance writes are not in it. */
  '0018_lifecycle_index': statements(`
    create index journal_lifecycle on runtime.journal (deployment_id, seq)
    where kind not in ('execution', 'instance_created', 'instance_updated', 'instance_deleted');
  `),
  /**
   * `ai_usage`: what AI models cost, by deployment, UTC day and event. `ai_reservations`: what the requests under way may
   * cost at most; a run has one request under way, so a new owner's request replaces that of an owner that died, and what
   * nobody settles ends with its deadline.
   */
  '0019_ai_usage': statements(`
    create table runtime.ai_usage (
      deployment_id bigint not null references runtime.deployments (id),
      day date not null,
      event text not null,
      account_id bigint not null,
      calls bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      usd numeric not null,
      primary key (deployment_id, day, event)
    );
    create index ai_usage_account on runtime.ai_usage (account_id, day);
    create table runtime.ai_reservations (
      execution_id uuid primary key,
      id uuid not null unique,
      deployment_id bigint not null,
      account_id bigint not null,
      day date not null,
      usd numeric not null,
      expires_at timestamptz not null
    );
    create index ai_reservations_account on runtime.ai_reservations (account_id);
    alter table runtime.accounts add column ai_usd_per_day double precision;
  `),
  /**
   * `lifetimes`: when the instances of a deployment were there, from the entry that created each to the one that deleted
   * it; `place` is the order of those that one entry created. It is computed from the journal up to `lifetime_heads.seq`
   * when a past list is read, so commits do not write it. A life that has ended lasted 2^`span` entries or more, and fewer
   * than twice that: those that contain an entry are found by one range of the index for each span.
   */
  '0020_lifetimes': statements(`
    create table runtime.lifetime_heads (
      deployment_id bigint primary key,
      seq bigint not null
    );
    create table runtime.lifetimes (
      deployment_id bigint not null,
      created_seq bigint not null,
      place integer not null,
      entity_schema text collate "C" not null,
      instance_id text collate "C" not null,
      deleted_seq bigint check (deleted_seq > created_seq),
      span smallint generated always as (
        length(ltrim((deleted_seq - created_seq)::bit(63)::text, '0')) - 1) stored,
      primary key (deployment_id, created_seq, place)
    );
    create unique index lifetimes_going_on on runtime.lifetimes (deployment_id, entity_schema, instance_id)
    include (created_seq, place) where deleted_seq is null;
    create index lifetimes_ended on runtime.lifetimes (deployment_id, span, created_seq) include (deleted_seq)
    where deleted_seq is not null;
  `),
  /**
   * `once_keys.seq`: the journal entry whose answer a key has, in place of a stored `reply`. `new_once_key` is the form in
   * which a commit hands over the keys that it claims.
   */
  '0021_once_key_entries': statements(`
    alter table runtime.once_keys add column seq bigint;
    create type runtime.new_once_key as (
      scope text,
      key text,
      request_hash text,
      deployment_id bigint,
      run_id uuid,
      reply jsonb,
      seq bigint,
      created_at timestamptz,
      expires_at timestamptz
    );
  `),
  /**
   * `acknowledged_occurrences`: how far each schedule's occurrences are acknowledged. `kind` is `due` with a due time in
   * milliseconds, or `run` with the number of a run on request. What lies at or before `until` and has no key any more is
   * never executed.
   */
  '0022_acknowledged_occurrences': statements(`
    create table runtime.acknowledged_occurrences (
      deployment text not null,
      event text not null,
      kind text not null,
      until bigint not null,
      primary key (deployment, event, kind)
    );
  `),
  /**
   * Runs that wait until it is known whether their payment was charged, what the calls to settle it may have sent
   * (`payments.calls`), and payments that are due for a refund.
   */
  '0023_awaited_payments': statements(`
    alter table runtime.payments add column calls jsonb;
    alter table runtime.runs drop constraint runs_state_check, add constraint runs_state_check check (state in
      ('deciding', 'decided', 'staged', 'awaiting_payment', 'paid', 'paid_decided', 'succeeded', 'failed'))
      not valid;
    alter table runtime.payments drop constraint payments_status_check, add constraint payments_status_check
      check (status in ('reserved', 'staged', 'settling', 'settled', 'released', 'refused', 'refund_due',
        'unknown', 'uncollected')) not valid;
  `),
};
