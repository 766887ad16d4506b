import {
  canonicalHash,
  type JournalFact,
  type JsonObject,
  JsonText,
  journalEntry,
  type PushPlan,
} from '@orrery/contracts';
import type { OutboxRow } from '@orrery/database';
import { type Selectable, sql } from 'kysely';
import type { Db } from '../database/db.js';
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
  return {
    ...entry,
    hash: row.hash,
    inputHash: canonicalHash(entry.input as JsonObject),
    worldAddress,
    stateChanges: stateChangesOf(entry.changes),
    binding: row.pushes as PushPlan | null,
  };
}

/** The same as JSON, of an entry at hand: the text that was hashed goes on. Writing it anew takes three times as long. */
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
