import type { JsonValue } from '@orrery/contracts';
import { sql, type Transaction } from 'kysely';

/** A message to be published once the transaction has committed. */
export interface NewOutboxRow {
  readonly name: string;
  readonly orderingKey: string;
  readonly messageId: string;
  readonly payload: JsonValue;
}

/**
 * Writes messages into the outbox, in this order, as part of the transaction that makes them true.
 *
 * Ids are assigned here and not at COMMIT, so transactions that write for one key must run one after the other: each
 * takes a lock that stands for the key (the row of the world, the lane of the deployment) before it enqueues.
 * Otherwise a later id may be published first.
 */
export async function enqueue<Schema>(
  trx: Transaction<Schema>,
  rows: readonly NewOutboxRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into outbox (name, ordering_key, message_id, payload)
    select name, "orderingKey", "messageId", payload
    from rows from (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as
      (name text, "orderingKey" text, "messageId" text, payload jsonb)
    ) with ordinality
    order by ordinality
  `.execute(trx);
}
