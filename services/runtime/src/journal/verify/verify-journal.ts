import {
  type Cancellation,
  type DeploymentSource,
  type Divergence,
  type HashedEntry,
  ServiceError,
  type Verification,
} from '@orrery/contracts';
import { sql } from 'kysely';
import type { Db } from '../../database/db.js';
import { genesisHash, hashOf } from '../entry.js';
import { headOf } from '../journal-store.js';
import { groupEntries, nextPageSize, readPage, SMALLEST_PAGE, type StoredEntry } from './entry-pages.js';
import { foldGroup } from './fold-groups.js';
import { createFoldMemory } from './fold-memory.js';

export interface VerifiedDeployment {
  id: number;
  address: string;
  source: DeploymentSource | null;
}

/** When to stop: `signal` ends the work, `isEnough` ends the call with what has been looked at so far. */
export interface VerifyBounds {
  signal: Cancellation;
  isEnough(): boolean;
}

/**
 * Recomputes the chain of a range of a journal and the fold of each instance changed in it, in one snapshot of the
 * database (docs/history.md "The service's own check"). Memory is bounded whatever the range. Throws
 * `request_in_flight` while another verification of the deployment runs in any process.
 */
export const verifyJournal = (
  db: Db,
  deployment: VerifiedDeployment,
  range: { from: number; limit: number },
  bounds: VerifyBounds,
): Promise<Verification> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await lockVerification(trx, deployment.id);
      return verifyRange(trx, deployment, range, bounds);
    });

async function lockVerification(db: Db, deploymentId: number): Promise<void> {
  const { rows } = await sql<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('runtime.verify', ${deploymentId})) as mine`.execute(
    db,
  );
  if (rows[0]?.mine !== true) {
    throw new ServiceError('request_in_flight', 'A verification of this deployment is under way.');
  }
}

async function verifyRange(
  db: Db,
  deployment: VerifiedDeployment,
  { from, limit }: { from: number; limit: number },
  { signal, isEnough }: VerifyBounds,
): Promise<Verification> {
  const head = await headOf(db, deployment.id);
  const to = Math.min(from + limit - 1, head.seq);
  const memory = createFoldMemory();
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
    link = chained.link;
    size = nextPageSize(page);
    if (isEnough() && link.seq <= to) return validUntil(from, link.seq);
  }
  if (to === head.seq && from <= head.seq && link.prevHash !== head.hash) {
    return diverged(from, { seq: head.seq, what: 'head_differs' });
  }
  return to < head.seq
    ? validUntil(from, to + 1)
    : { ...validUntil(from, Math.max(from, to + 1)), next: null };
}

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

/** What an entry requires of the next one. */
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

/** Follows the chain through a page; `count` entries are valid. */
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

/** What the entry at `from` must continue. */
async function linkBefore(db: Db, { id, address, source }: VerifiedDeployment, from: number): Promise<Link> {
  if (from === 1) return { seq: 1, prevHash: genesisHash({ deployment: address, source }) };
  const before = await db
    .selectFrom('journal')
    .select('hash')
    .where('deployment_id', '=', id)
    .where('seq', '=', from - 1)
    .executeTakeFirst();
  return { seq: from, prevHash: before?.hash ?? '' };
}
