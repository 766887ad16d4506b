import { randomUUID } from 'node:crypto';
import { type CatalogChanged, catalogChanged } from '@orrery/contracts';
import { enqueue } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { Trx } from '../database/db.js';
import type { WorldRow } from '../database/schema.js';

/** What changed; `id` is the id of its row, which the transaction has locked. */
interface Change extends Pick<CatalogChanged, 'subject' | 'name' | 'change'> {
  readonly id: number;
  readonly version?: number;
}

/** Writes a change to the outbox, in the transaction that makes it. */
export type Announce = (trx: Trx, world: WorldRow, change: Change) => Promise<void>;

/** Changes of one row are published in order, since it is locked while they are written. */
export const announceWith =
  (clock: Clock): Announce =>
  async (trx, world, { id, subject, name, version, change }) => {
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
