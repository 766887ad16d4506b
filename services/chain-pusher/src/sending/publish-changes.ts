import type { JsonObject } from '@orrery/contracts';
import { pushResult } from '@orrery/contracts';
import { enqueue } from '@orrery/database';
import { transactionUrl } from '../chains/transaction-url.js';
import type { Trx } from '../database/schema.js';
import { pushesOfAttempt, toPushRecord } from '../pushes/push-store.js';

/** Writes how an attempt's pushes stand into the outbox. The lane's row is locked, so they are published in order. */
export async function publishChanges(
  trx: Trx,
  { chain, explorerUrl }: { chain: string; explorerUrl: string | undefined },
  { id, deployment }: { id: number; deployment: string },
): Promise<void> {
  const rows = await pushesOfAttempt(trx, deployment, id);
  if (rows.length === 0) return;
  const urlOf = (_chain: string, transaction: string) => transactionUrl(explorerUrl, transaction);
  const pushes = rows.map((row) => toPushRecord(row, urlOf, () => undefined));
  await enqueue(trx, [
    {
      name: pushResult.name,
      orderingKey: `${deployment} ${chain}`,
      messageId: crypto.randomUUID(),
      payload: { deployment, pushes } as unknown as JsonObject,
    },
  ]);
}
