import { ServiceError } from '@orrery/contracts';
import type { CatalogTransaction } from '../context.js';

/**
 * Counts what the schemas of a world that is held `counting` take together: a version that may change them all carries
 * them all, over the bus and in its frozen copy.
 *
 * @throws ServiceError `limit_reached` when they grow beyond `limit` bytes.
 */
export async function countSchemaBytes(
  trx: CatalogTransaction,
  worldId: number,
  change: number,
  limit: number,
): Promise<void> {
  if (change === 0) return;
  const { schema_bytes } = await trx
    .updateTable('worlds')
    .set((world) => ({ schema_bytes: world('schema_bytes', '+', change) }))
    .where('id', '=', worldId)
    .returning('schema_bytes')
    .executeTakeFirstOrThrow();
  if (change > 0 && schema_bytes > limit)
    throw new ServiceError(
      'limit_reached',
      `The schemas of a world may take at most ${limit} bytes together.`,
    );
}
