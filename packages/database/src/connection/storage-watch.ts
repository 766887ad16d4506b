import { ServiceError } from '@orrery/contracts';
import type { Logger } from '@orrery/service-kit';
import type pg from 'pg';
import { classifyPostgresError } from '../errors/postgres-errors.js';

/** How often it is tried whether there is space again, in milliseconds. */
const PROBE_MS = 500;

/**
 * Whether the disk of the database is full. A statement that fails because of that begins it. That others succeed does not
 * end it: an update may find room in a page that exists. So a write that needs new pages is tried until one succeeds.
 *
 *   space ─ a statement failed with `storage_full` ─→ full ─ the probe succeeded ─→ space
 */
export class StorageWatch {
  #isFull = false;
  #timer: NodeJS.Timeout | undefined;

  /** `probe` writes something that needs space. */
  constructor(
    private readonly probe: () => Promise<unknown>,
    private readonly logger: Logger,
  ) {}

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Takes note of an error of the server, or of a service that answered `storage_full`. */
  readonly note = (error: unknown): void => {
    if (this.#isFull || kindOf(error) !== 'storage_full') return;
    this.#isFull = true;
    this.logger.error(
      'the disk of the database is full and every change is refused; free or add space where its data directory lies',
    );
    this.#tryLater();
  };

  stop(): void {
    clearTimeout(this.#timer);
  }

  #tryLater(): void {
    this.#timer = setTimeout(() => void this.#tryNow(), PROBE_MS).unref();
  }

  async #tryNow(): Promise<void> {
    const error = await this.probe().catch((thrown: unknown) => thrown ?? 'failed');
    // A user who may make no temporary tables learns from the next failed write.
    if (ENDURING.has(kindOf(error))) return this.#tryLater();
    this.#isFull = false;
    this.logger.info('the disk of the database has space again');
  }
}

const kindOf = (error: unknown) =>
  error instanceof ServiceError ? error.code : classifyPostgresError(error).kind;

/** What the probe may fail with while the disk is full: a server that runs out of space may also end. */
const ENDURING: ReadonlySet<string> = new Set(['storage_full', 'unavailable', 'unknown_outcome', 'timeout']);

/** A mebibyte that is gone with its transaction. It is not logged and touches no table of ours. */
export const takeSpace = (pool: pg.Pool) =>
  pool.query(`create temporary table storage_probe on commit drop as
    select repeat('x', 1000) as filler from generate_series(1, 1000)`);
