import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `payments`: the payment of each execution that a wallet has paid for, for ever. Its states are at the top of
 * `payments/payment.ts`. `runs.staged` is what an execution commits once its payment is settled. `payment_totals` counts
 * the payments of a deployment by status and asset; a trigger keeps it, in the transaction that changes a payment.
 */
export const payments: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`alter table runtime.runs add column staged jsonb`.execute(db);
    await sql`
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
      )`.execute(db);
    await sql`create index payments_of_deployment on runtime.payments (deployment_id, number desc)`.execute(
      db,
    );
    await sql`
      create index payments_by_status on runtime.payments (deployment_id, status, number desc)`.execute(db);
    await sql`create index payments_of_run on runtime.payments (run_id)`.execute(db);
    await sql`create index payments_to_check on runtime.payments (check_at) where check_at is not null`.execute(
      db,
    );
    await sql`
      create table runtime.payment_totals (
        deployment_id bigint not null references runtime.deployments (id),
        network text not null,
        asset text not null,
        decimals smallint not null,
        status text not null,
        payments bigint not null,
        amount numeric(90) not null,
        primary key (deployment_id, network, asset, status)
      )`.execute(db);
    await sql`
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
      end $$`.execute(db);
    await sql`
      create trigger count_payment after insert or delete or update of status on runtime.payments
      for each row execute function runtime.count_payment()`.execute(db);
  },
};
