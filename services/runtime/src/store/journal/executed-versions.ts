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

/** Tells whether a deployment has executed the version of a hash. A process looks at each entry once, whoever asks. */
export function createExecutedVersions(db: Db) {
  const known = new LRUCache<number, Executed>({ max: REMEMBERED });
  const readOn = async (deploymentId: number, executed: Executed) => {
    const { rows } = await sql<{ hash: string | null; last: number }>`
      select version_hash as hash, max(seq) as last from journal
      where deployment_id = ${deploymentId} and seq > ${executed.upTo} group by version_hash`.execute(db);
    for (const { hash, last } of rows) {
      if (hash !== null) executed.hashes.add(hash);
      executed.upTo = Math.max(executed.upTo, last);
    }
  };
  return async (deploymentId: number, hash: string): Promise<boolean> => {
    const executed = known.get(deploymentId) ?? { upTo: 0, hashes: new Set(), reading: Promise.resolve() };
    known.set(deploymentId, executed);
    if (executed.hashes.has(hash)) return true;
    executed.reading = executed.reading.catch(() => undefined).then(() => readOn(deploymentId, executed));
    await executed.reading;
    return executed.hashes.has(hash);
  };
}
