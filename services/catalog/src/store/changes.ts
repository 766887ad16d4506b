import { randomUUID } from 'node:crypto';
import { type CatalogChanged, catalogChanged } from '@orrery/contracts';
import { enqueue } from '@orrery/database';
import type { Trx } from './tables/db.js';
import type { WorldRow } from './tables/schema.js';

/** What changed; `id` is the id of its row, which the transaction has locked. */
interface Changed {
  readonly id: number;
  readonly name: string;
  readonly version?: number | null;
}

/**
 * Writes a change to the outbox, in the transaction that makes it. Changes of one row are published in order, since it is
 * locked while they are written.
 */
export async function announce(
  { trx, now }: { readonly trx: Trx; readonly now: Date },
  world: WorldRow,
  subject: CatalogChanged['subject'],
  { id, name, version = null }: Changed,
  change: CatalogChanged['change'],
): Promise<void> {
  const payload: CatalogChanged = {
    worldId: world.id,
    worldAddress: world.address,
    ownerAccountId: world.owner_account_id,
    subject,
    name,
    version,
    change,
    at: now.toISOString(),
  };
  const orderingKey = `${subject}:${id}`;
  await enqueue(trx, [{ name: catalogChanged.name, orderingKey, messageId: randomUUID(), payload }]);
}
