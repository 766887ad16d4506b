import {
  canonicalHash,
  type EntryPayment,
  type HashedEntry,
  type HistoryEntry,
  type hashedEntry,
  type JournalFact,
  type JsonObject,
  JsonText,
  journalEntry,
  type PushPlan,
  type PushSummary,
} from '@orrery/contracts';
import { type OutboxRow, prepared } from '@orrery/database';
import { type Selectable, sql } from 'kysely';
import { LLM_TEXTS, type SealedEntry, stateChangesOf } from '../../core/entries/entry.js';
import type { Db, RuntimeTables } from '../tables/schema.js';

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

type HashedRow = Pick<Row, (typeof HASHED_COLUMNS)[number]>;

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

const SHOWN_COLUMNS = [...HASHED_COLUMNS, 'pushes', 'duration_ms'] as const;

export type ShownRow = Pick<Row, (typeof SHOWN_COLUMNS)[number] | 'llm'> & {
  readonly payment: EntryPayment | null;
};

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

/** Every push of a plan starts as queued; the chain-pusher knows what has become of it. */
const pushesOf = (plan: PushPlan | null): PushSummary[] =>
  (plan?.targetChains ?? []).map((chain) => ({
    chain,
    number: null,
    status: 'queued',
    transaction: null,
    block: null,
    explorerUrl: null,
    error: null,
  }));

/** How the payment of an entry stands now; its row is kept beside the journal. */
const PAYMENT = `(select jsonb_build_object('amount', p.amount::text, 'decimals', p.decimals, 'network', p.network,
    'asset', p.asset, 'payTo', p.pay_to, 'payer', p.payer, 'status', p.status, 'transaction', p.transaction)
  from payments p where p.key = payment_key) as payment`;
const SHOWN = `${SHOWN_COLUMNS.join(', ')}, ${PAYMENT}`;
const WITHOUT_TEXTS = `llm - '{${LLM_TEXTS.join(',')}}'::text[] as llm`;

const entriesBySeq = prepared<ShownRow>(
  'journal-entries-by-seq',
  `select ${SHOWN}, ${WITHOUT_TEXTS} from journal
   where deployment_id = $1 and seq = any($2::bigint[]) order by seq desc`,
);
const byId = (llm: string) => `select ${SHOWN}, ${llm} from journal where deployment_id = $1 and id = $2`;
const entryWithTexts = prepared<ShownRow>('journal-entry-with-texts', byId('llm'));
const entryWithoutTexts = prepared<ShownRow>('journal-entry', byId(WITHOUT_TEXTS));

/** The entries of these `seq`, newest first, without the texts of models. */
export const entriesWithoutTexts = (
  db: Db,
  deploymentId: number,
  seqs: readonly number[],
): Promise<ShownRow[]> => entriesBySeq(db, [deploymentId, seqs]);

/** One entry by its id, a UUID; its model's texts only `withTexts`. */
export async function entryById(
  db: Db,
  deploymentId: number,
  id: string,
  { withTexts }: { withTexts: boolean },
): Promise<ShownRow | undefined> {
  const [row] = await (withTexts ? entryWithTexts : entryWithoutTexts)(db, [deploymentId, id]);
  return row;
}

type Head = Pick<Selectable<RuntimeTables['journal_heads']>, 'deployment_id' | 'seq' | 'hash' | 'totals'>;

const headById = prepared<Head>(
  'journal-head',
  'select deployment_id, seq, hash, totals from journal_heads where deployment_id = $1',
);

/** The last entry of a deployment's journal and its counters; a deployment always has a first entry. */
export async function headOf(db: Db, deploymentId: number): Promise<Head> {
  const [head] = await headById(db, [deploymentId]);
  return head ?? { deployment_id: deploymentId, seq: 0, hash: '', totals: {} };
}

/** The outbox row of an entry: it refers to the entry and does not repeat it. */
export const outboxRowOf = (entry: Pick<SealedEntry, 'deployment' | 'seq' | 'id'>) => ({
  name: journalEntry.name,
  orderingKey: entry.deployment,
  orderingSeq: entry.seq,
  messageId: entry.id,
});

export type Facts = ReadonlyMap<number, JsonText>;

interface DeploymentNames {
  address: string;
  worldAddress: string;
}
type FactRow = HashedRow & Pick<Selectable<RuntimeTables['journal']>, 'pushes'>;

/** A fact from the journal's row: an entry as other services receive it. */
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

/** The payloads of outbox rows, by row id, from the journal. */
export async function loadFacts(db: Db, rows: readonly OutboxRow[]): Promise<Facts> {
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
