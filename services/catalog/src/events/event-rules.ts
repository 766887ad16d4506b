import type { EventRecord } from '@orrery/contracts';
import type { EventRow } from '../database/schema.js';

/** `latest`: the highest version that exists, null without any. */
export const toEventRecord = (row: EventRow & { latest: number | null }): EventRecord => ({
  id: row.id,
  worldId: row.world_id,
  name: row.name,
  description: row.description,
  latestVersion: row.latest,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
