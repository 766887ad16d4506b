import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Db } from '../tables/schema.js';

interface Executed {
  /** The last entry that was looked at. */
  upTo: number;
  readonly hashes: Set<string>;
  reading: Promise<void>;
}

/** Deployments that strangers ask about. */
const REMEMBERED = 1000;
/** Entries that one statement looks at. */
const AT_ONCE = 10_000;

/**
 * Tells whether a deployment has executed the version of a hash. A process looks at each entry once, whoever asks: in ranges,
 * each by `inTurn`, until the hash is found, the journal ends or the request does.
 */
export function createExecutedVersions(
  db: Db,
  inTurn: <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>,
) {
  const known = new LRUCache<number, Executed>({ max: REMEMBERED });
  /** Resolves with false at the end of the journal. */
  const readRange = async (deploymentId: number, executed: Executed): Promise<boolean> => {
    const { rows } = await sql<{ hash: string | null; last: number }>`
      select version_hash as hash, max(seq) as last from journal
      where deployment_id = ${deploymentId} and seq > ${executed.upTo} and seq <= ${executed.upTo + AT_ONCE}
      group by version_hash`.execute(db);
    for (const { hash, last } of rows) {
      if (hash !== null) executed.hashes.add(hash);
      executed.upTo = Math.max(executed.upTo, last);
    }
    return rows.length > 0;
  };
  const readOn = async (deploymentId: number, executed: Executed, hash: string, signal: AbortSignal) => {
    while (!executed.hashes.has(hash)) {
      signal.throwIfAborted();
      if (!(await inTurn(signal, () => readRange(deploymentId, executed)))) return;
    }
  };
  return async (deploymentId: number, hash: string, signal: AbortSignal): Promise<boolean> => {
    const executed = known.get(deploymentId) ?? { upTo: 0, hashes: new Set(), reading: Promise.resolve() };
    known.set(deploymentId, executed);
    if (executed.hashes.has(hash)) return true;
    executed.reading = executed.reading
      .catch(() => undefined)
      .then(() => readOn(deploymentId, executed, hash, signal));
    await executed.reading;
    return executed.hashes.has(hash);
  };
}
