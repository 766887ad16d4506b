import { randomUUID } from 'node:crypto';
import { type CatalogChanged, catalogChanged } from '@orrery/contracts';
import { enqueue } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { Trx } from '../database/db.js';
import type { WorldRow } from '../database/schema.js';

/** What changed; `id` is its own, and its row is held by the transaction. */
interface Change extends Pick<CatalogChanged, 'subject' | 'name' | 'change'> {
  readonly id: number;
  readonly version?: number;
}

/** Puts a change into the outbox, in the transaction that makes it. */
export type Announce = (trx: Trx, world: WorldRow, change: Change) => Promise<void>;

/** Changes of one thing are published in their order: its row is held while they are written. */
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
