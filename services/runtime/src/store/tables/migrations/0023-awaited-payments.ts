import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Runs that wait until it is known whether their payment was charged, what the calls to settle it may have sent
 * (`payments.calls`), and payments that are due for a refund.
 */
export const awaitedPayments: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`alter table runtime.payments add column calls jsonb`.execute(db);
    await sql`
      alter table runtime.runs drop constraint runs_state_check, add constraint runs_state_check check (state in
        ('deciding', 'decided', 'staged', 'awaiting_payment', 'paid', 'paid_decided', 'succeeded', 'failed'))
        not valid`.execute(db);
    await sql`
      alter table runtime.payments drop constraint payments_status_check, add constraint payments_status_check
        check (status in ('reserved', 'staged', 'settling', 'settled', 'released', 'refused', 'refund_due',
          'unknown', 'uncollected')) not valid`.execute(db);
  },
};
