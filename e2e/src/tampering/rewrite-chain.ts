import {
  type HashedEntry,
  type HistoryEntry,
  hashedEntry,
  RECORDED_MEMBERS,
  type Recorded,
} from '@orrery/contracts';
import { genesisHash, hashOf } from '@orrery/deciding';
import type { Client } from 'pg';

type Rewritten = HashedEntry & { readonly hash: string };

/**
 * Changes entries and computes all hashes from the first of them on anew, as somebody could who has the database: the chain
 * holds afterwards. `change` answers what is other in an entry, a member that goes as undefined; undefined: nothing.
 */
export async function rewriteChain(
  client: Client,
  deploymentId: number,
  journal: readonly HistoryEntry[],
  change: (entry: HistoryEntry) => Partial<HashedEntry> | undefined,
): Promise<void> {
  const from = journal.findIndex((entry) => change(entry) !== undefined);
  if (from < 0) throw new RangeError('the journal has no such entry');
  let prevHash =
    journal[from - 1]?.hash ?? genesisHash({ deployment: journal[0]?.deployment ?? '', source: null });
  for (const entry of journal.slice(from)) {
    const hashed = { ...hashedOf(entry), ...change(entry), prevHash };
    const hash = hashOf(hashed);
    await write(client, deploymentId, { ...hashed, hash });
    prevHash = hash;
  }
  await client.query('update runtime.journal_heads set hash = $2 where deployment_id = $1', [
    deploymentId,
    prevHash,
  ]);
}

/** What the hash covers. */
export const hashedOf = (entry: HistoryEntry): HashedEntry =>
  Object.fromEntries(
    Object.entries(entry).filter(([member]) => member in hashedEntry.shape),
  ) as unknown as HashedEntry;

async function write(client: Client, deploymentId: number, entry: Rewritten): Promise<void> {
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
  const { seq, v, kind, event, eventVersion, versionHash, trigger, caller, status } = entry;
  const { input, changes, result, error, llmHash } = entry;
  const recorded = Object.entries(entry).filter(
    ([member, value]) => value !== undefined && RECORDED_MEMBERS.includes(member as keyof Recorded),
  );
  await client.query(
    `update runtime.journal set v = $3, kind = $4, event = $5, event_version = $6, version_hash = $7, trigger = $8, caller = $9,
       status = $10, input = $11, changes = $12, result = $13, error = $14, llm_hash = $15, evaluator = $16, decided_at = $17,
       recorded = $18, prev_hash = $19, hash = $20
     where deployment_id = $1 and seq = $2`,
    [
      ...[deploymentId, seq, v, kind, event, eventVersion, versionHash, trigger, caller, status],
      ...[json(input), json(changes), json(result), json(error), llmHash],
      ...[entry.evaluator ?? null, entry.decidedAt ?? null],
      ...[recorded.length === 0 ? null : json(Object.fromEntries(recorded)), entry.prevHash, entry.hash],
    ],
  );
}
