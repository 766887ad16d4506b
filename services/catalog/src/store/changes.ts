import { randomUUID } from 'node:crypto';
import { type CatalogChanged, catalogChanged } from '@orrery/contracts';
import { enqueue } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { Trx } from './tables/db.js';
import type { WorldRow } from './tables/schema.js';

/** What changed; `id` is the id of its row, which the transaction has locked. */
interface Changed {
  readonly id: number;
  readonly name: string;
  readonly version?: number;
}

/** Writes a change to the outbox, in the transaction that makes it. */
export type Announce = (
  trx: Trx,
  world: WorldRow,
  subject: CatalogChanged['subject'],
  changed: Changed,
  change: CatalogChanged['change'],
) => Promise<void>;

/** Changes of one row are published in order, since it is locked while they are written. */
export const announceWith =
  (clock: Clock): Announce =>
  async (trx, world, subject, { id, name, version }, change) => {
    const payload: CatalogChanged = {
      worldId: world.id,
      worldAddress: world.address,
      ownerAccountId: world.owner_account_id,
      subject,
      name,
      version: version ?? null,
      change,
      at: new Date(clock.now()).toISOString(),
    };
    const orderingKey = `${subject}:${id}`;
    await enqueue(trx, [{ name: catalogChanged.name, orderingKey, messageId: randomUUID(), payload }]);
  };
