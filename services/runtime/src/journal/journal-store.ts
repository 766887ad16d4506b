import type { HashedEntry, HistoryEntry, hashedEntry, PushPlan, PushSummary } from '@orrery/contracts';
import { type Selectable, sql } from 'kysely';
import type { Db } from '../database/db.js';
import type { RuntimeTables } from '../database/schema.js';
import { stateChangesOf } from './change.js';

type Row = Selectable<RuntimeTables['journal']>;

/** The columns that an entry's hash covers, and the hash. */
export const HASHED_COLUMNS = [
  'v',
  'seq',
  'id',
  'kind',
  'event',
  'event_version',
  'version_hash',
  'trigger',
  'caller',
  'status',
  'input',
  'changes',
  'result',
  'error',
  'llm_hash',
  'attestation',
  'payment_key',
  'executed_at',
  'prev_hash',
  'hash',
] as const;

export type HashedRow = Pick<Row, (typeof HASHED_COLUMNS)[number]>;

/** A row as the entry that was hashed. The columns were written from one and are not validated again. */
export const hashedEntryOf = (row: HashedRow, deployment: string): HashedEntry =>
  ({
    v: row.v,
    deployment,
    id: row.id,
    seq: row.seq,
    kind: row.kind,
    event: row.event,
    eventVersion: row.event_version,
    versionHash: row.version_hash,
    trigger: row.trigger,
    caller: row.caller,
    status: row.status,
    input: row.input,
    changes: row.changes,
    result: row.result,
    error: row.error,
    llmHash: row.llm_hash,
    attestation: row.attestation,
    paymentKey: row.payment_key,
    executedAt: row.executed_at.toISOString(),
    prevHash: row.prev_hash,
  }) satisfies Record<keyof typeof hashedEntry.shape, unknown> as HashedEntry;

const SHOWN_COLUMNS = [...HASHED_COLUMNS, 'payment', 'pushes', 'duration_ms'] as const;

export type ShownRow = Pick<Row, (typeof SHOWN_COLUMNS)[number] | 'llm'>;

/** An entry as the history shows it; the query has left out what the reader may not see. */
export function toHistoryEntry(row: ShownRow, deployment: string): HistoryEntry {
  const entry = hashedEntryOf(row, deployment);
  return {
    ...entry,
    hash: row.hash,
    stateChanges: stateChangesOf(entry.changes),
    llm: row.llm,
    payment: row.payment,
    pushes: pushesOf(row.pushes as PushPlan | null),
    durationMs: row.duration_ms,
  };
}

/** Every push of a plan starts as queued; the chain-pusher reports its later status. */
const pushesOf = (plan: PushPlan | null): PushSummary[] =>
  (plan?.targetChains ?? []).map((chain) => ({ chain, status: 'queued' }));

/** Members of `llm` that hold the texts sent to a model and received from it. */
export const LLM_TEXTS = ['request', 'response'];

/** The entries of these `seq`, newest first, without the texts of models. */
export const entriesWithoutTexts = (
  db: Db,
  deploymentId: number,
  seqs: readonly number[],
): Promise<ShownRow[]> =>
  db
    .selectFrom('journal')
    .select(SHOWN_COLUMNS)
    .select(sql<ShownRow['llm']>`llm - ${LLM_TEXTS}::text[]`.as('llm'))
    .where('deployment_id', '=', deploymentId)
    .where('seq', '=', sql<number>`any(${[...seqs]}::bigint[])`)
    .orderBy('seq', 'desc')
    .execute();

/** One entry by its id, a UUID; its model's texts only `withTexts`. */
export const entryById = (
  db: Db,
  deploymentId: number,
  id: string,
  { withTexts }: { withTexts: boolean },
): Promise<ShownRow | undefined> =>
  db
    .selectFrom('journal')
    .select(SHOWN_COLUMNS)
    .select(
      (withTexts ? sql<ShownRow['llm']>`llm` : sql<ShownRow['llm']>`llm - ${LLM_TEXTS}::text[]`).as('llm'),
    )
    .where('deployment_id', '=', deploymentId)
    .where('id', '=', id)
    .executeTakeFirst();

/** The last entry of a deployment's journal and its counters; a deployment always has a first entry. */
export async function headOf(
  db: Db,
  deploymentId: number,
): Promise<Omit<Selectable<RuntimeTables['journal_heads']>, 'active_minute'>> {
  const head = await db
    .selectFrom('journal_heads')
    .select(['deployment_id', 'seq', 'hash', 'totals'])
    .where('deployment_id', '=', deploymentId)
    .executeTakeFirst();
  return head ?? { deployment_id: deploymentId, seq: 0, hash: '', totals: {} };
}
