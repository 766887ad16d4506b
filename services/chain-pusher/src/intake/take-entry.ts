import type { JournalFact } from '@orrery/contracts';
import { appendPush, cancelUnsent, rememberDeployment } from '../store/lanes/append-push.js';
import type { Trx } from '../store/tables/schema.js';

/** Bytes of content that a chain takes, by its name. */
export type ContentLimit = (chain: string) => number;

/** The effect of one journal entry, in the transaction that moves the position: a push for each chain of its binding. */
export async function takeEntry(trx: Trx, entry: JournalFact, limitOf: ContentLimit): Promise<void> {
  if (entry.kind === 'deployment_created') await rememberDeployment(trx, entry);
  if (entry.kind === 'deleted') await cancelUnsent(trx, entry.deployment);
  if (entry.status !== 'succeeded' || entry.binding === null) return;
  for (const chain of entry.binding.targetChains) await appendPush(trx, entry, chain, limitOf(chain));
}
