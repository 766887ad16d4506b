import type { Connections, Database } from '@orrery/database';
import { createSemaphore, type Resources, type Semaphore } from '@orrery/service-kit';
import type { RuntimeSchema } from './schema.js';

/**
 * Connections by purpose, so that none waits behind another: a crowd of reads keeps no lease from being renewed and no
 * batch from being committed. What is left (the relay, creations, sweeps) uses the database's own connections.
 */
export interface Pools {
  readonly leases: Connections<RuntimeSchema>;
  readonly commits: Connections<RuntimeSchema>;
  /** For what the lanes load before they decide. */
  readonly lanes: Connections<RuntimeSchema>;
  /** For answers that read only. */
  readonly reads: Connections<RuntimeSchema>;
  /** For queries, which go through many rows. */
  readonly queries: Connections<RuntimeSchema>;
  /** How many run at once. */
  readonly queriesAtOnce: number;
}

/** The sum with those for queries and the database's own 10 stands in docs/operations.md. */
const CONNECTIONS = { leases: 2, commits: 4, lanes: 4, reads: 8 };

/** A connection takes as long to be made however short the leases are, in milliseconds; no start tries it again. */
const CONNECT_MS = 2000;
/** A process that is stopped inside a transaction blocks its partitions for no longer than this, in milliseconds. */
const IDLE_IN_COMMIT_MS = 2000;
/**
 * Reads that run at once, and how long one waits, in milliseconds, until it is refused. That time is the bound: a thousand
 * quick reads, as many as a gateway admits at once, are all answered. The number that may wait only bounds memory.
 */
const READS = { slots: CONNECTIONS.reads, maxWaiting: 4000, maxWaitMs: 2000 };

/** How long a query may take, in milliseconds. Its statements are cancelled after as long. */
export const QUERY_MS = 2000;

export const boundReads = (): Semaphore => createSemaphore(READS.slots, READS);

/** Opens the pools; a connection is made when it is first used. */
export function openPools(
  database: Database<RuntimeSchema>,
  { leaseTtlMs, queriesAtOnce }: { readonly leaseTtlMs: number; readonly queriesAtOnce: number },
  resources: Resources,
): Pools {
  // Two failed tries to renew leave time for a third before the leases end.
  const leaseMs = Math.ceil(leaseTtlMs / 3);
  const limits = {
    leases: { statementTimeoutMs: leaseMs, lockTimeoutMs: leaseMs, maxWaitMs: Math.max(leaseMs, CONNECT_MS) },
    // The plan of a commit is the same for all batches, and making it takes as long as committing one entry by it.
    commits: { idleInTransactionTimeoutMs: IDLE_IN_COMMIT_MS, plansOnce: true },
    lanes: {},
    reads: { readOnly: true },
    queries: { readOnly: true, oneCore: true, statementTimeoutMs: QUERY_MS },
  };
  const connections = { ...CONNECTIONS, queries: queriesAtOnce };
  const open = (name: keyof typeof connections) =>
    resources.use(
      `connections for ${name}`,
      database.beside({ maxConnections: connections[name], ...limits[name] }),
    );
  return {
    leases: open('leases'),
    commits: open('commits'),
    lanes: open('lanes'),
    reads: open('reads'),
    queries: open('queries'),
    queriesAtOnce,
  };
}
