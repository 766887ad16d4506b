import { setImmediate } from 'node:timers/promises';
import {
  executionStatus,
  executionTrigger,
  type HistoryEntry,
  type HistoryQuery,
  type Pagination,
  paginationOf,
  refuseDeepPage,
  ServiceError,
  toNfc,
} from '@orrery/contracts';
import { COUNT_LIMIT } from '@orrery/database';
import type { InstanceName } from '@orrery/deciding';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../tables/schema.js';
import { entriesWithoutTexts, headOf, type ShownRow, toHistoryEntry } from './journal-store.js';

interface HistoryFilter extends Pick<HistoryQuery, 'event' | 'status' | 'trigger'> {
  readonly instance: InstanceName | undefined;
  /** The whole journal. Only executions have an event, a status or a trigger, so with one of those it is false. */
  readonly all: boolean;
}

const filterOf = ({ event, status, trigger, instance, include }: HistoryQuery): HistoryFilter => ({
  event,
  status,
  trigger,
  instance: instance === undefined ? undefined : splitKey(instance),
  all: include === 'all' && event === undefined && status === undefined && trigger === undefined,
});

function splitKey(key: string): InstanceName {
  const colon = key.indexOf(':');
  return { entitySchema: toNfc(key.slice(0, colon)), instanceId: toNfc(key.slice(colon + 1)) };
}

const outcomesOf = ({ trigger: one, status: as }: HistoryFilter) =>
  (one === undefined ? executionTrigger.options : [one]).flatMap((trigger) =>
    (as === undefined ? executionStatus.options : [as]).map((status) => ({ trigger, status })),
  );

/** The total from the counters (`entries`, `<trigger>_<status>`); `undefined` where no counter covers the filter. */
function countedTotal(filter: HistoryFilter, totals: Readonly<Record<string, number>>): number | undefined {
  if (filter.event !== undefined || filter.instance !== undefined) return undefined;
  if (filter.all) return totals['entries'] ?? 0;
  return outcomesOf(filter).reduce(
    (sum, { trigger, status }) => sum + (totals[`${trigger}_${status}`] ?? 0),
    0,
  );
}

/**
 * With another filter beside it, `instance` looks through this many of the instance's latest changes: no index covers
 * both, and a list never reads a whole journal.
 */
const MAX_LOOKED_THROUGH = 100_000;

type Seqs = RawBuilder<{ seq: number }>;

interface Reach {
  before: number;
  depth: number;
}

function matching(deploymentId: number, filter: HistoryFilter, reach: Reach): Seqs {
  if (filter.instance !== undefined) return ofInstance(deploymentId, filter, filter.instance, reach);
  if (!filter.all) return ofOutcomes(deploymentId, filter, reach);
  return sql`select seq from journal where deployment_id = ${deploymentId} and seq < ${reach.before}`;
}

/** One index scan per outcome, each no deeper than the page may lie if all of it were of that outcome. */
function ofOutcomes(deploymentId: number, filter: HistoryFilter, { before, depth }: Reach): Seqs {
  const event = filter.event === undefined ? sql`` : sql`and event = ${filter.event}`;
  const scans = outcomesOf(filter).map(
    ({ trigger, status }) => sql`
      (select seq from journal where deployment_id = ${deploymentId} and kind = 'execution'
        and trigger = ${trigger} and status = ${status} ${event} and seq < ${before}
        order by seq desc limit ${depth})`,
  );
  return sql`${sql.join(scans, sql` union all `)}`;
}

function ofInstance(
  deploymentId: number,
  filter: HistoryFilter,
  { entitySchema, instanceId }: InstanceName,
  { before }: Reach,
): Seqs {
  const changes = sql`
    select seq from instance_changes where deployment_id = ${deploymentId}
      and entity_schema = ${entitySchema} and instance_id = ${instanceId} and seq < ${before}`;
  if (filter.all) return sql`${changes}`;
  const { event, status, trigger } = filter;
  const ofEntry = sql`select from journal j where j.deployment_id = ${deploymentId} and j.seq = c.seq`;
  // What is no execution has an index of its own, which is small.
  const isAsked =
    event === undefined && status === undefined && trigger === undefined
      ? sql`not exists (${ofEntry} and j.kind <> 'execution')`
      : sql`exists (${ofEntry} and j.kind = 'execution'
          ${event === undefined ? sql`` : sql`and j.event = ${event}`}
          ${status === undefined ? sql`` : sql`and j.status = ${status}`}
          ${trigger === undefined ? sql`` : sql`and j.trigger = ${trigger}`} offset 0)`;
  return sql`select c.seq from (${changes} order by seq desc limit ${MAX_LOOKED_THROUGH}) c where ${isAsked}`;
}

async function pageOfSeqs(
  db: Db,
  deploymentId: number,
  filter: HistoryFilter,
  window: { before: number; offset: number; limit: number },
): Promise<number[]> {
  const found = matching(deploymentId, filter, {
    before: window.before,
    depth: window.offset + window.limit,
  });
  const { rows } = await sql<{ seq: number }>`
    select seq from (${found}) found order by seq desc limit ${window.limit} offset ${window.offset}`.execute(
    db,
  );
  return rows.map(({ seq }) => seq);
}

async function countMatching(
  db: Db,
  deploymentId: number,
  filter: HistoryFilter,
): Promise<{ total: number; isMinimum: boolean }> {
  const found = matching(deploymentId, filter, { before: Number.MAX_SAFE_INTEGER, depth: COUNT_LIMIT + 1 });
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (select 1 from (${found}) found limit ${COUNT_LIMIT + 1}) counted`.execute(
    db,
  );
  const count = rows[0]?.count ?? 0;
  return { total: Math.min(count, COUNT_LIMIT), isMinimum: count > COUNT_LIMIT };
}

/** Bytes of a page's rows as JSON: the bus carries 32 MiB, and `stateChanges` repeats what is in `changes`. */
const MAX_PAGE_BYTES = 14 * 1024 * 1024;
/** As a shift. */
const MEBIBYTE = 20;
/** Entries of the largest size (256 KiB) that always fit. */
const ALWAYS_FITS = 40;

/** A page of the history, or of the whole journal, newest first. Throws `page_too_deep`. */
export async function listHistory(
  db: Db,
  deployment: { id: number; address: string },
  query: HistoryQuery,
): Promise<{ data: HistoryEntry[]; pagination: Pagination }> {
  const { after, limit } = query;
  const page = { page: query.page ?? 1, limit };
  refuseDeepPage(page);
  const filter = filterOf(query);
  const offset = (page.page - 1) * limit;
  const window = { before: after ?? Number.MAX_SAFE_INTEGER, offset, limit };
  const [seqs, count] = await Promise.all([
    pageOfSeqs(db, deployment.id, filter, window),
    totalOf(db, deployment.id, filter),
  ]);
  const rows = seqs.length === 0 ? [] : await entriesWithoutTexts(db, deployment.id, seqs);
  await refuseHeavyPage(rows);
  const pagination = paginationOf(page, count.total);
  return {
    data: rows.map((row) => toHistoryEntry(row, deployment.address)),
    pagination: count.isMinimum ? { ...pagination, totalIsMinimum: true } : pagination,
  };
}

async function totalOf(db: Db, deploymentId: number, filter: HistoryFilter) {
  const { totals } = await headOf(db, deploymentId);
  const counted = countedTotal(filter, totals);
  return counted === undefined
    ? countMatching(db, deploymentId, filter)
    : { total: counted, isMinimum: false };
}

async function refuseHeavyPage(rows: readonly ShownRow[]): Promise<void> {
  if (rows.length <= ALWAYS_FITS) return;
  let bytes = 0;
  for (const row of rows) {
    const before = bytes;
    bytes += Buffer.byteLength(JSON.stringify(row));
    // Others have their turn in between.
    if (bytes >> MEBIBYTE > before >> MEBIBYTE) await setImmediate();
  }
  if (bytes <= MAX_PAGE_BYTES) return;
  throw new ServiceError(
    'page_too_deep',
    'The entries of this page are too large together. Use a smaller limit.',
  );
}
