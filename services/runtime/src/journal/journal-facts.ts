import {
  canonicalHash,
  type HashedEntry,
  type JournalFact,
  type JsonObject,
  JsonText,
  journalEntry,
  type PushPlan,
} from '@orrery/contracts';
import type { OutboxRow } from '@orrery/database';
import { type Selectable, sql } from 'kysely';
import type { Db } from '../context.js';
import type { RuntimeTables } from '../database/schema.js';
import type { SealedEntry } from './entry.js';
import { stateChangesOf } from './fold-changes.js';
import { HASHED_COLUMNS, type HashedRow, hashedEntryOf } from './journal-row.js';

/** The outbox row of an entry: it refers to the entry and does not repeat it. */
export const outboxRowOf = (entry: Pick<SealedEntry, 'deployment' | 'seq' | 'id'>) => ({
  name: journalEntry.name,
  orderingKey: entry.deployment,
  orderingSeq: entry.seq,
  messageId: entry.id,
});

interface DeploymentNames {
  address: string;
  worldAddress: string;
}
type FactRow = HashedRow & Pick<Selectable<RuntimeTables['journal']>, 'pushes'>;

/** What other services are told of an entry. */
export function toFact(row: FactRow, { address, worldAddress }: DeploymentNames): JournalFact {
  const entry = hashedEntryOf(row, address);
  const inputHash = canonicalHash(entry.input as JsonObject);
  return factOf({ ...entry, hash: row.hash, inputHash }, worldAddress, row.pushes as PushPlan | null);
}

/** The same of an entry that is at hand. */
export const factOf = (
  entry: Readonly<HashedEntry> & Pick<SealedEntry, 'hash' | 'inputHash'>,
  worldAddress: string,
  binding: PushPlan | null,
): JournalFact => ({
  v: entry.v,
  deployment: entry.deployment,
  id: entry.id,
  seq: entry.seq,
  kind: entry.kind,
  event: entry.event,
  eventVersion: entry.eventVersion,
  versionHash: entry.versionHash,
  trigger: entry.trigger,
  caller: entry.caller,
  status: entry.status,
  input: entry.input,
  changes: entry.changes,
  result: entry.result,
  error: entry.error,
  llmHash: entry.llmHash,
  attestation: entry.attestation,
  paymentKey: entry.paymentKey,
  executedAt: entry.executedAt,
  prevHash: entry.prevHash,
  hash: entry.hash,
  worldAddress,
  inputHash: entry.inputHash,
  stateChanges: stateChangesOf(entry.changes),
  binding,
});

/** The JSON of the fact, put together from the text that was hashed: writing it anew takes three times as long. */
export const factText = (entry: SealedEntry, worldAddress: string, binding: PushPlan | null): JsonText =>
  new JsonText(
    `${entry.text.slice(0, -1)},"hash":"${entry.hash}","inputHash":"${entry.inputHash}"` +
      `,"worldAddress":"${worldAddress}","stateChanges":${JSON.stringify(stateChangesOf(entry.changes))}` +
      `,"binding":${JSON.stringify(binding)}}`,
  );

/** The payloads of outbox rows, by row id, from the journal. */
export async function loadFacts(db: Db, rows: readonly OutboxRow[]): Promise<ReadonlyMap<number, JsonText>> {
  const { rows: found } = await sql<FactRow & { row_id: number; address: string; world_address: string }>`
    select o.id as row_id, d.address, d.world_address, j.pushes, ${sql.join(columns('j'))}
    from unnest(${rows.map(({ id }) => id)}::bigint[], ${rows.map(({ orderingKey }) => orderingKey)}::text[],
      ${rows.map(({ orderingSeq }) => orderingSeq)}::bigint[]) o (id, address, seq)
    join deployments d on d.address = o.address
    join journal j on j.deployment_id = d.id and j.seq = o.seq`.execute(db);
  return new Map(
    found.map((row) => {
      const fact = toFact(row, { address: row.address, worldAddress: row.world_address });
      return [row.row_id, new JsonText(JSON.stringify(fact))];
    }),
  );
}

const columns = (table: string) => HASHED_COLUMNS.map((column) => sql.ref(`${table}.${column}`));
