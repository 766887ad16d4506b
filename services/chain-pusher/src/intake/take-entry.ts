import type { JournalFact } from '@orrery/contracts';
import { appendPush, rememberDeployment } from '../store/lanes/append-push.js';
import { cancelUnsent } from '../store/lanes/cancel-unsent.js';
import { noteHead } from '../store/lanes/head-store.js';
import type { Trx } from '../store/tables/schema.js';

/** Bytes of content that a chain takes, by its name. */
export type ContentLimit = (chain: string) => number;

/** The effect of one journal entry, in the transaction that moves the position: what its binding pushes to each chain. */
export async function takeEntry(trx: Trx, entry: JournalFact, limitOf: ContentLimit): Promise<void> {
  if (entry.kind === 'deployment_created') await rememberDeployment(trx, entry);
  if (entry.kind === 'deleted') await cancelUnsent(trx, entry.deployment);
  if (entry.status !== 'succeeded' || entry.binding === null) return;
  const { targetChains, headChains = [] } = entry.binding;
  for (const chain of targetChains) await appendPush(trx, entry, chain, limitOf(chain));
  for (const chain of headChains) await noteHead(trx, entry, chain);
}
