import { ServiceError } from '@orrery/contracts';
import type { Logger } from '@orrery/service-kit';
import type pg from 'pg';
import { classifyPostgresError } from '../errors/postgres-errors.js';

/** The pause between two tries whether there is space, in milliseconds. */
const PROBE_MS = 500;

/**
 * Whether the disk of the database is full. A statement that fails because of that begins it. That others succeed does not
 * end it: an update may find room in a page that exists. So a write that needs new pages is tried until one succeeds.
 *
 *   space ─ a statement failed with `storage_full` ─→ full ─ the probe succeeded ─→ space
 *
 * A service that answers `storage_full` may use another database: then the probe is the statement that tells.
 */
export class StorageWatch {
  #isFull = false;
  #isSuspected = false;
  /** A probe is under way, or its pause is. */
  #isBusy = false;
  #timer: NodeJS.Timeout | undefined;

  /** `probe` writes something that needs space. */
  constructor(
    private readonly probe: () => Promise<unknown>,
    private readonly logger: Logger,
  ) {}

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Takes note of an error of this database's server. */
  readonly note = (error: unknown): void => {
    if (this.#isFull || !isFullness(error)) return;
    this.#isFull = true;
    this.logger.error(
      'the disk of the database is full and every change is refused; free or add space where its data directory lies',
    );
    if (!this.#isBusy) this.#tryLater();
  };

  /** Takes note of what a service answered: the probe tells whether it is this disk that is full. */
  readonly suspect = (error: unknown): void => {
    if (this.#isFull || !isFullness(error)) return;
    this.#isSuspected = true;
    if (!this.#isBusy) void this.#tryNow();
  };

  stop(): void {
    clearTimeout(this.#timer);
  }

  #tryLater(): void {
    this.#isBusy = true;
    this.#timer = setTimeout(() => {
      this.#isBusy = false;
      if (this.#isFull || this.#isSuspected) void this.#tryNow();
    }, PROBE_MS).unref();
  }

  async #tryNow(): Promise<void> {
    const wasFull = this.#isFull;
    this.#isBusy = true;
    this.#isSuspected = false;
    const error = await this.probe().catch((thrown: unknown) => thrown ?? 'failed');
    this.note(error);
    // A user who may make no temporary tables learns from the next failed write.
    if (wasFull && !ENDURING.has(kindOf(error))) {
      this.#isFull = false;
      this.logger.info('the disk of the database has space again');
    }
    this.#tryLater();
  }
}

const kindOf = (error: unknown) =>
  error instanceof ServiceError ? error.code : classifyPostgresError(error).kind;

const isFullness = (error: unknown): boolean => kindOf(error) === 'storage_full';

/** What the probe may fail with while the disk is full: a server that runs out of space may also end. */
const ENDURING: ReadonlySet<string> = new Set(['storage_full', 'unavailable', 'unknown_outcome', 'timeout']);

/** A mebibyte that is gone with its transaction. It is not logged and touches no table of ours. */
export const takeSpace = (pool: pg.Pool) =>
  pool.query(`create temporary table storage_probe on commit drop as
    select repeat('x', 1000) as filler from generate_series(1, 1000)`);
