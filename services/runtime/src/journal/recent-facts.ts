import type { JsonText } from '@orrery/contracts';
import type { OutboxRow } from '@orrery/database';
import { factText } from './journal-facts.js';
import type { RecentEntries } from './recent-entries.js';

type Facts = ReadonlyMap<number, JsonText>;

/**
 * The payloads of outbox rows, by row id: what the relay's `load` answers. `load` reads those from the journal that
 * are not in memory: what other processes committed, and what was committed before a start or too long ago.
 */
export async function recentFacts(
  recent: Pick<RecentEntries, 'take'>,
  rows: readonly OutboxRow[],
  load: (rows: readonly OutboxRow[]) => Promise<Facts>,
): Promise<Facts> {
  const facts = new Map<number, JsonText>();
  const others: OutboxRow[] = [];
  for (const row of rows) {
    const found = recent.take(row.messageId);
    if (found === undefined) others.push(row);
    else facts.set(row.id, factText(found.entry, found.worldAddress, found.pushes));
  }
  if (others.length > 0) for (const [id, fact] of await load(others)) facts.set(id, fact);
  return facts;
}
