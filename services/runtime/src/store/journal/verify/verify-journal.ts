import {
  type DeploymentSource,
  type Divergence,
  type HashedEntry,
  ServiceError,
  type Verification,
} from '@orrery/contracts';
import { isUniqueViolation } from '@orrery/database';
import { genesisHash, hashOf } from '@orrery/deciding';
import type { Clock, FairSlots } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db } from '../../tables/schema.js';
import { ENTRY_COLUMNS, type EntryRow, entryOf, headOf } from '../journal-store.js';
import { hashAt } from '../lifecycle.js';
import { compareInstances, type VerifyBounds } from './compare-instances.js';
import {
  createFoldMemory,
  type FoldMemory,
  foldGroup,
  groupEntries,
  type StoredEntry,
} from './fold-groups.js';

interface VerifiedDeployment {
  id: number;
  address: string;
  source: DeploymentSource | null;
  /** Whether its owner asks, whom nobody else's verification keeps waiting. */
  isOwner?: boolean;
}

/** Decides executions again; what it counts is part of the answer. */
interface DecisionCheck {
  /** The last entry that it can check. */
  readonly until: number;
  readonly counts: NonNullable<Verification['decisions']>;
  readonly check: (entries: readonly StoredEntry[]) => Promise<Divergence | undefined>;
}

/** `from` of a call that goes on with the instances, less the id of the last one compared; below it, `from` is a `seq`. */
const INSTANCES_FROM = 100_000_000_000_000;

interface VerifiedRange {
  from: number;
  /** Entries and instances of this call at most. */
  limit: number;
}

/**
 * Recomputes the chain of a range of a journal and the fold of each instance changed in it, in one snapshot of the
 * database, and once it reaches the last entry compares every instance with the fold (docs/history.md "The service's
 * own check"). Memory is bounded whatever the range. Throws `request_in_flight` while another verification of the
 * deployment runs in any process: for its owner another one of the owner's, for all others one of theirs.
 */
export const verifyJournal = (
  db: Db,
  deployment: VerifiedDeployment,
  range: VerifiedRange,
  bounds: VerifyBounds,
  decisionsOf?: (db: Db) => DecisionCheck,
): Promise<Verification> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await lockVerification(trx, deployment);
      const decisions = decisionsOf?.(trx);
      const verified = await verifyFrom(trx, deployment, range, bounds, decisions);
      return decisions === undefined ? verified : { ...verified, decisions: decisions.counts };
    });

async function lockVerification(db: Db, { id, isOwner = false }: VerifiedDeployment): Promise<void> {
  // Processes of the release before take the owner's lock for everyone.
  const lock = isOwner ? 'runtime.verify' : 'runtime.verify.others';
  const { rows } = await sql<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${lock}, ${id})) as mine`.execute(db);
  if (rows[0]?.mine !== true) {
    throw new ServiceError('request_in_flight', 'A verification of this deployment is under way.');
  }
}

async function verifyFrom(
  db: Db,
  deployment: VerifiedDeployment,
  { from, limit }: VerifiedRange,
  bounds: VerifyBounds,
  decisions: DecisionCheck | undefined,
): Promise<Verification> {
  const head = await headOf(db, deployment.id);
  const memory = createFoldMemory();
  const isEntry = from < INSTANCES_FROM;
  const chain = isEntry
    ? await verifyEntries(db, deployment, head, { from, limit }, bounds, memory, decisions)
    : NOTHING;
  if (chain.next !== null || !chain.valid) return chain;
  const left = limit - chain.entries;
  if (left <= 0) return { ...chain, next: INSTANCES_FROM };
  const page = { after: isEntry ? 0 : from - INSTANCES_FROM, limit: left };
  const compared = await compareInstances(db, { ...deployment, head: head.seq }, page, bounds, memory);
  if ('divergence' in compared) return { ...chain, valid: false, firstDivergence: compared.divergence };
  return { ...chain, next: compared.last && INSTANCES_FROM + compared.last };
}

const NOTHING: Verification = { valid: true, entries: 0, firstDivergence: null, next: null };

/** `next` null: the last entry was reached. */
async function verifyEntries(
  db: Db,
  deployment: VerifiedDeployment,
  head: Head,
  { from, limit }: VerifiedRange,
  { signal, isEnough }: VerifyBounds,
  memory: FoldMemory,
  decisions: DecisionCheck | undefined,
): Promise<Verification> {
  const to = Math.min(from + limit - 1, head.seq, decisions?.until ?? head.seq);
  let link = await linkBefore(db, deployment, from);
  for (let size = SMALLEST_PAGE; link.seq <= to; ) {
    signal.throwIfAborted();
    const page = await readPage(db, deployment, link.seq, Math.min(size, to - link.seq + 1));
    const chained = checkChain(link, page);
    for (const group of groupEntries(page.slice(0, chained.count))) {
      const divergence = await foldGroup(db, deployment.id, group, memory);
      if (divergence !== undefined) return diverged(from, divergence);
    }
    if (chained.divergence !== undefined) return diverged(from, chained.divergence);
    const decided = await decisions?.check(page);
    if (decided !== undefined) return diverged(from, decided);
    link = chained.link;
    size = decisions === undefined ? nextPageSize(page) : SMALLEST_PAGE;
    if (isEnough() && link.seq <= to) return validUntil(from, link.seq);
  }
  // What lies beyond what may be checked yet is asked for again from where it begins.
  if (to < head.seq) return validUntil(from, Math.max(from, to + 1));
  if (from <= head.seq && !isHead(link, head)) return diverged(from, { seq: head.seq, what: 'head_differs' });
  return { ...validUntil(from, Math.max(from, to + 1)), next: null };
}

type Head = Awaited<ReturnType<typeof headOf>>;

/** Whether the head is what the last entry says; `entries` counts them all. */
const isHead = ({ seq, prevHash }: Link, head: Head): boolean =>
  prevHash === head.hash && seq === head.seq + 1 && head.totals['entries'] === head.seq;

const validUntil = (from: number, next: number): Verification => ({
  valid: true,
  entries: next - from,
  firstDivergence: null,
  next,
});

const diverged = (from: number, divergence: Divergence): Verification => ({
  valid: false,
  entries: divergence.seq - from + 1,
  firstDivergence: divergence,
  next: null,
});

interface Link {
  seq: number;
  prevHash: string;
}

/** Whether an entry is the next of its chain and its hash covers it; `undefined` when it is. */
function checkLink(link: Link, entry: HashedEntry, hash: string): Divergence['what'] | undefined {
  if (entry.seq !== link.seq) return 'missing_entry';
  if (entry.prevHash !== link.prevHash) return 'broken_link';
  return hashOf(entry) === hash ? undefined : 'wrong_hash';
}

function checkChain(
  start: Link,
  page: readonly StoredEntry[],
): { link: Link; count: number; divergence?: Divergence } {
  let link = start;
  for (const [count, { entry, hash }] of page.entries()) {
    const what = checkLink(link, entry, hash);
    if (what !== undefined) return { link, count, divergence: { seq: link.seq, what } };
    link = { seq: link.seq + 1, prevHash: hash };
  }
  if (page.length > 0) return { link, count: page.length };
  return { link, count: 0, divergence: { seq: link.seq, what: 'missing_entry' } };
}

/** Entries of the first page: 4 MiB of the largest. */
const SMALLEST_PAGE = 16;
const LARGEST_PAGE = 500;
/** Bytes of a page's entries, so that checking one page does not block the process. */
const PAGE_BYTES = 1024 * 1024;
/** Entries that are measured: a page's entries are much alike. */
const MEASURED = 16;

/** Up to `limit` entries from `from` on, in order. */
async function readPage(
  db: Db,
  { id, address }: { id: number; address: string },
  from: number,
  limit: number,
): Promise<StoredEntry[]> {
  const { rows } = await sql<EntryRow>`
    select ${sql.raw(ENTRY_COLUMNS)} from journal j
    where j.deployment_id = ${id} and j.seq >= ${from} order by j.seq limit ${limit}`.execute(db);
  return rows.map((row) => {
    const { hash, ...entry } = entryOf(row, address);
    return { entry, hash };
  });
}

/** How many entries to read next, judged by the last ones. */
function nextPageSize(page: readonly StoredEntry[]): number {
  const measured = page.slice(-MEASURED);
  const bytes = measured.reduce(
    (sum, { entry }) => sum + JSON.stringify([entry.input, entry.changes]).length,
    0,
  );
  const average = Math.max(1, bytes / Math.max(1, measured.length));
  return Math.min(LARGEST_PAGE, Math.max(SMALLEST_PAGE, Math.floor(PAGE_BYTES / average)));
}

async function linkBefore(db: Db, { id, address, source }: VerifiedDeployment, from: number): Promise<Link> {
  if (from === 1) return { seq: 1, prevHash: genesisHash({ deployment: address, source }) };
  return { seq: from, prevHash: (await hashAt(db, id, from - 1)) ?? '' };
}

export interface BrokenHistoryDependencies {
  readonly db: Db;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Bounds how many verifications run in this process; those who ask get their turns. */
  readonly verifying: FairSlots;
}

/** When a call must have been answered. */
export interface CallBounds extends Pick<VerifyBounds, 'signal'> {
  /** Milliseconds since 1970. */
  readonly deadline: number;
}

/**
 * Reads what was there after entry `seq`. Where the stored rows contradict each other, the service's own check looks for
 * the entry at which the history no longer holds. @throws `history_broken`
 */
export async function readPast<T>(
  dependencies: BrokenHistoryDependencies,
  deployment: VerifiedDeployment,
  seq: number,
  bounds: CallBounds,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isContradiction(error)) throw error;
    throw historyBroken(seq, await findDivergence(dependencies, deployment, seq, bounds), error);
  }
}

/** SQLSTATE class 22, data exception: a stored value has not the form that the runtime writes. */
const DATA_EXCEPTION = /^22[0-9A-Z]{3}$/;

/** A change that cannot follow the ones before it, one instance that begins twice, or changes that are no list. */
const isContradiction = (error: unknown): boolean =>
  error instanceof RangeError ||
  isUniqueViolation(error) ||
  DATA_EXCEPTION.test(String((error as { code?: unknown } | null)?.code));

/** The share of the time until the deadline that a verification may take. */
const SHARE_OF_TIME = 0.6;

/** The bounds of a verification that begins now. */
export function boundsFromNow(
  clock: Pick<Clock, 'monotonic'>,
  { signal, deadline }: CallBounds,
): VerifyBounds {
  const latest = clock.monotonic() + (deadline - clock.monotonic()) * SHARE_OF_TIME;
  return { signal, isEnough: () => clock.monotonic() >= latest };
}

/** Undefined where the check finds nothing in its time, or another one is under way. */
async function findDivergence(
  { db, clock, verifying }: BrokenHistoryDependencies,
  deployment: VerifiedDeployment,
  seq: number,
  call: CallBounds,
): Promise<Divergence | undefined> {
  // Any reader of the past may begin it.
  const searched = { ...deployment, isOwner: false };
  const search = () => verifyJournal(db, searched, { from: 1, limit: seq }, boundsFromNow(clock, call));
  try {
    const who = `readers of ${deployment.id}`;
    return (await verifying.run(who, call.signal, search)).firstDivergence ?? undefined;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'request_in_flight') return undefined;
    throw error;
  }
}

function historyBroken(seq: number, found: Divergence | undefined, cause: unknown): ServiceError {
  const where =
    found === undefined ? `somewhere up to entry ${seq}` : `at entry ${found.seq} (${found.what})`;
  const detail =
    `The history does not hold ${where}, so what was there after entry ${seq} is not known. ` +
    'GET …/history/verify checks all of it.';
  const facts = { atSeq: seq, ...(found && { divergence: factsOf(found) }) };
  return new ServiceError('history_broken', detail, { facts, cause });
}

const factsOf = ({ instance, ...rest }: Divergence) => ({
  ...rest,
  ...(instance !== undefined && { instance }),
});
