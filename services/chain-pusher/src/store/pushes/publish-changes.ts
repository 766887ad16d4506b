import { type ChainConfig, type JsonObject, pushResult } from '@orrery/contracts';
import { enqueue } from '@orrery/database';
import { toPushRecord } from '../../core/pushes/push-record.js';
import type { Trx } from '../tables/schema.js';
import { pushesOfSubmission } from './push-store.js';

/** Writes how a submission's pushes stand into the outbox. The lane's row is locked, so they are published in order. */
export async function publishChanges(
  trx: Trx,
  { name, explorerUrl }: ChainConfig,
  { id, deployment }: { readonly id: number; readonly deployment: string },
): Promise<void> {
  const rows = await pushesOfSubmission(trx, deployment, id);
  if (rows.length === 0) return;
  const pushes = rows.map((row) => toPushRecord(row, explorerUrl));
  await enqueue(trx, [
    {
      name: pushResult.name,
      orderingKey: `${deployment} ${name}`,
      messageId: crypto.randomUUID(),
      payload: { deployment, pushes } as unknown as JsonObject,
    },
  ]);
}
