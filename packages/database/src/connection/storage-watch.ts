import { ServiceError } from '@orrery/contracts';
import type { Logger } from '@orrery/service-kit';
import type pg from 'pg';
import { classifyPostgresError } from '../errors/postgres-errors.js';

/** Whether the disk of the database is full. */
export interface StorageWatch {
  readonly isFull: boolean;
  /** Takes note of an error of the server, or of a service that answered `storage_full`. */
  note(error: unknown): void;
  stop(): void;
}

export interface StorageWatchOptions {
  /** Writes something that needs space. */
  readonly probe: () => Promise<unknown>;
  readonly logger: Logger;
}

/** How often it is tried whether there is space again, in milliseconds. */
const PROBE_MS = 500;

/**
 * A statement that fails because the disk is full begins it. That others succeed does not end it: an update may find
 * room in a page that exists. So a write that needs new pages is tried until one succeeds.
 *
 *   space ─ a statement failed with `storage_full` ─→ full ─ the probe succeeded ─→ space
 */
export function createStorageWatch({ probe, logger }: StorageWatchOptions): StorageWatch {
  let isFull = false;
  let timer: NodeJS.Timeout | undefined;
  const tryLater = () => {
    timer = setTimeout(() => void tryNow(), PROBE_MS).unref();
  };
  const tryNow = async () => {
    const error = await probe().catch((thrown: unknown) => thrown ?? 'failed');
    // A user who may make no temporary tables learns from the next failed write.
    if (ENDURING.has(kindOf(error))) return tryLater();
    isFull = false;
    logger.info('the disk of the database has space again');
  };
  return {
    get isFull() {
      return isFull;
    },
    note: (error) => {
      if (isFull || kindOf(error) !== 'storage_full') return;
      isFull = true;
      logger.error(
        'the disk of the database is full and every change is refused; free or add space where its data directory lies',
      );
      tryLater();
    },
    stop: () => clearTimeout(timer),
  };
}

const kindOf = (error: unknown) =>
  error instanceof ServiceError ? error.code : classifyPostgresError(error).kind;

/** What the probe may fail with while the disk is full: a server that runs out of space may also end. */
const ENDURING: ReadonlySet<string> = new Set(['storage_full', 'unavailable', 'unknown_outcome', 'timeout']);

/** A mebibyte that is gone with its transaction. It is not logged and touches no table of ours. */
export const takeSpace = (pool: pg.Pool) =>
  pool.query(`create temporary table storage_probe on commit drop as
    select repeat('x', 1000) as filler from generate_series(1, 1000)`);
