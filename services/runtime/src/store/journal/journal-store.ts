import {
  canonicalHash,
  type EntryPayment,
  type FailedCode,
  type HashedEntry,
  type HistoryEntry,
  hashedEntry,
  type JournalFact,
  type JournalHead,
  type JsonObject,
  type journalRpcs,
  type PushPlan,
  type PushSummary,
  RECORDED_MEMBERS,
  type Recorded,
  type ReplyOf,
  type RequestOf,
  ServiceError,
} from '@orrery/contracts';
import { prepared } from '@orrery/database';
import { LLM_TEXTS, stateChangesOf } from '@orrery/deciding';
import { type Selectable, sql } from 'kysely';
import type { Db, RuntimeSchema } from '../tables/schema.js';
import { lastLifecycle } from './lifecycle.js';

const columnOf = (member: string): string =>
  member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What an entry's hash covers, but for the deployment's address, and the hash, as a query selects it from the journal `j`. */
export const ENTRY_COLUMNS = [...Object.keys(hashedEntry.shape), 'hash', 'recorded']
  .filter((member) => member !== 'deployment' && !RECORDED_MEMBERS.includes(member as keyof Recorded))
  .map((member) => `j.${columnOf(member)} as "${member}"`)
  .join(', ');

/** The columns were written from an entry and are not validated again. */
export interface EntryRow
  extends Omit<HashedEntry, 'deployment' | 'executedAt' | 'decidedAt' | 'evaluator' | keyof Recorded> {
  readonly executedAt: Date;
  readonly decidedAt: Date | null;
  readonly evaluator: number | null;
  readonly recorded: Recorded | null;
  readonly hash: string;
}

/** A row as the entry that was hashed, with its hash and whatever else was selected. Unset members of version 2 are absent. */
export const entryOf = <Row extends EntryRow>(
  { v, executedAt, decidedAt, evaluator, recorded, ...row }: Row,
  deployment: string,
) => ({
  v,
  deployment,
  ...row,
  executedAt: executedAt.toISOString(),
  ...(decidedAt !== null && { decidedAt: decidedAt.toISOString() }),
  ...(evaluator !== null && { evaluator }),
  ...recorded,
});

/** An entry as the history shows it; the query has left out what the reader may not see. */
export interface ShownRow extends EntryRow {
  readonly llm: JsonObject | null;
  readonly payment: EntryPayment | null;
  readonly pushes: PushPlan | null;
  readonly durationMs: number | null;
  /** Null: the code has not failed, or the reader may not see it. */
  readonly failedCode?: FailedCode | null;
}

export const toHistoryEntry = ({ failedCode, ...row }: ShownRow, deployment: string): HistoryEntry => ({
  ...entryOf(row, deployment),
  ...(failedCode && { failedCode }),
  stateChanges: stateChangesOf(row.changes),
  pushes: pushesOf(row.pushes),
});

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
  from payments p where p.key = j.payment_key) as payment`;
const SHOWN = `${ENTRY_COLUMNS}, j.pushes, j.duration_ms as "durationMs", ${PAYMENT}`;
const WITHOUT_TEXTS = `j.llm - '{${LLM_TEXTS.join(',')}}'::text[] as llm`;

const entriesBySeq = prepared<ShownRow>(
  'journal-entries-by-seq',
  `select ${SHOWN}, ${WITHOUT_TEXTS} from journal j
   where j.deployment_id = $1 and j.seq = any($2::bigint[]) order by j.seq desc`,
);
const byId = (llm: string) =>
  `select ${SHOWN}, ${llm}, case when $3 then j.failed_code end as "failedCode" from journal j
   where j.deployment_id = $1 and j.id = $2`;
const entryWithTexts = prepared<ShownRow>('journal-entry-with-texts', byId('j.llm'));
const entryWithoutTexts = prepared<ShownRow>('journal-entry', byId(WITHOUT_TEXTS));

/** The entries of these `seq`, newest first, without the texts of models. */
export const entriesWithoutTexts = (
  db: Db,
  deploymentId: number,
  seqs: readonly number[],
): Promise<ShownRow[]> => entriesBySeq(db, [deploymentId, seqs]);

/** One entry by its id, a UUID; its model's texts only `withTexts`, where its code failed only `withCode`. */
export async function entryById(
  db: Db,
  deploymentId: number,
  id: string,
  { withTexts, withCode }: { withTexts: boolean; withCode: boolean },
): Promise<ShownRow | undefined> {
  const [row] = await (withTexts ? entryWithTexts : entryWithoutTexts)(db, [deploymentId, id, withCode]);
  return row;
}

/** The entry of this `seq`, without the texts of its model. */
export async function entryBySeq(db: Db, deploymentId: number, seq: number): Promise<ShownRow | undefined> {
  const [row] = await entriesWithoutTexts(db, deploymentId, [seq]);
  return row;
}

type Head = Pick<Selectable<RuntimeSchema['journal_heads']>, 'deployment_id' | 'seq' | 'hash' | 'totals'>;

const headById = prepared<Head>(
  'journal-head',
  'select deployment_id, seq, hash, totals from journal_heads where deployment_id = $1',
);

/** The last entry of a deployment's journal and its counters; a deployment always has a first entry. */
export async function headOf(db: Db, deploymentId: number): Promise<Head> {
  const [head] = await headById(db, [deploymentId]);
  return head ?? { deployment_id: deploymentId, seq: 0, hash: '', totals: {} };
}

interface FactRow extends EntryRow {
  readonly pushes: PushPlan | null;
}

interface DeploymentNames {
  readonly address: string;
  readonly world_address: string;
}

/** A fact from the journal's row: an entry as other services receive it. */
function toFact(row: FactRow, { address, world_address }: DeploymentNames): JournalFact {
  const { pushes, ...entry } = entryOf(row, address);
  return {
    ...entry,
    inputHash: canonicalHash(entry.input as JsonObject),
    worldAddress: world_address,
    stateChanges: stateChangesOf(entry.changes),
    binding: pushes,
  };
}

/** Where an entry stands. */
export interface EntryPlace {
  readonly deploymentId: number;
  readonly seq: number;
}

/** The entries at these places, in any order; those that the journal does not have are left out. */
export async function loadFacts(
  db: Db,
  places: readonly EntryPlace[],
): Promise<(EntryPlace & { readonly fact: JournalFact })[]> {
  const { rows } = await sql<FactRow & DeploymentNames & { deployment_id: number }>`
    select d.id as deployment_id, d.address, d.world_address, j.pushes, ${sql.raw(ENTRY_COLUMNS)}
    from unnest(${places.map(({ deploymentId }) => deploymentId)}::bigint[], ${places.map(({ seq }) => seq)}::bigint[])
      p (deployment_id, seq)
    join deployments d on d.id = p.deployment_id
    join journal j on j.deployment_id = d.id and j.seq = p.seq`.execute(db);
  return rows.map(({ deployment_id: deploymentId, address, world_address, ...row }) => ({
    deploymentId,
    seq: row.seq,
    fact: toFact(row, { address, world_address }),
  }));
}

type Heads = (typeof journalRpcs)['journal.heads'];

/**
 * A commit notes the minute in which it began. It may become visible this many minutes later, and process clocks play no
 * part: all times are those of the database.
 */
const MARGIN_MINUTES = 2;
const MINUTE_MS = 60_000;

/** A page of the heads that changed since a time, by the minute of their last entry, then by deployment. */
export async function journalHeads(
  db: Db,
  { changedSince, after, limit, of }: RequestOf<Heads>,
): Promise<ReplyOf<Heads>> {
  const until = await databaseNow(db);
  const from = changedSince === null ? 0 : Math.floor(Date.parse(changedSince) / MINUTE_MS) - MARGIN_MINUTES;
  // Behind the cursor, or from the first deployment of the first minute.
  const { minute, deploymentId } = after ?? { minute: from, deploymentId: 0 };
  const { rows } = await sql<JournalHead & { readonly minute: number; readonly deploymentId: number }>`
    select d.address as deployment, e.seq, e.hash, h.active_minute as minute, h.deployment_id as "deploymentId"
    from journal_heads h join deployments d on d.id = h.deployment_id
    cross join lateral ${of === 'journal' ? sql`(select h.seq, h.hash) e` : lastLifecycle(sql.ref('h.deployment_id'))}
    where (h.active_minute, h.deployment_id) > (${minute}, ${deploymentId})
    order by h.active_minute, h.deployment_id limit ${limit}`.execute(db);
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    heads: rows.map(({ deployment, seq, hash }) => ({ deployment, seq, hash })),
    next: last === undefined ? null : { minute: last.minute, deploymentId: last.deploymentId },
    until,
  };
}

/** Read before the heads: what is committed after it is found by the next pass. */
async function databaseNow(db: Db): Promise<string> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db);
  return (rows[0]?.now ?? new Date(0)).toISOString();
}

/** Bytes of one reply's entries, roughly; always at least one entry. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
/** Rows read at once: 8 MiB of the largest. */
const AT_ONCE = 32;

/** Entries after a `seq`, in order, of a deployment that may be deleted. Throws `deployment_not_found`. */
export async function journalRange(
  db: Db,
  request: { deployment: string; after: number; limit: number },
): Promise<{ entries: JournalFact[]; head: number }> {
  const deployment = await db
    .selectFrom('deployments')
    .select(['id', 'address', 'world_address'])
    .where('address', '=', request.deployment)
    .executeTakeFirst();
  if (deployment === undefined) throw new ServiceError('deployment_not_found');
  const { seq: head } = await headOf(db, deployment.id);
  const entries: JournalFact[] = [];
  for (let bytes = 0, after = request.after; entries.length < request.limit && bytes < MAX_REPLY_BYTES; ) {
    const rows = await rowsAfter(db, deployment.id, after, Math.min(AT_ONCE, request.limit - entries.length));
    const last = rows.at(-1);
    if (last === undefined) break;
    bytes += Buffer.byteLength(JSON.stringify(rows));
    entries.push(...rows.map((row) => toFact(row, deployment)));
    after = last.seq;
  }
  return { entries, head };
}

async function rowsAfter(db: Db, deploymentId: number, after: number, limit: number): Promise<FactRow[]> {
  const { rows } = await sql<FactRow>`
    select ${sql.raw(ENTRY_COLUMNS)}, j.pushes from journal j
    where j.deployment_id = ${deploymentId} and j.seq > ${after} order by j.seq limit ${limit}`.execute(db);
  return rows;
}
