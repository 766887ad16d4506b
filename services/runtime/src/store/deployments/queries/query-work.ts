import { setImmediate } from 'node:timers/promises';
import { type JsonObject, ServiceError } from '@orrery/contracts';
import { classifyPostgresError } from '@orrery/database';
import { type Condition, satisfies } from '@orrery/expressions';
import type { Clock } from '@orrery/service-kit';
import { QUERY_MS } from '../../tables/pools.js';

/** Units of work between two turns of the event loop: some 20 ms at worst, usually a few. */
const SLICE = 250_000;

export const tooCostly = (cause?: unknown): ServiceError =>
  new ServiceError(
    'query_too_costly',
    `The query takes longer than ${QUERY_MS / 1000} s. Narrow it: compare attributes with constants, joined by "&&", ` +
      'which the database decides, and leave out count=true.',
    { cause },
  );

/** An instance that a query looks at. */
export interface Seen {
  readonly instanceId: string;
  readonly state: JsonObject;
}

/** The time that a query has, and what the evaluator does in it. */
export class QueryWork {
  readonly #endsAt: number;
  #slice = { work: SLICE };

  constructor(
    private readonly clock: Clock,
    private readonly signal: AbortSignal,
  ) {
    this.#endsAt = clock.monotonic() + QUERY_MS;
  }

  /** @throws `query_too_costly` once the time is over; the signal's reason when it has aborted */
  check(): void {
    this.signal.throwIfAborted();
    if (this.clock.monotonic() >= this.#endsAt) throw tooCostly();
  }

  /** Those that satisfy all conditions. Lets others run in between. @throws `query_too_costly` */
  async filter<Row extends Seen>(rows: readonly Row[], conditions: readonly Condition[]): Promise<Row[]> {
    const found: Row[] = [];
    for (const row of rows) if (await this.#holds(row, conditions)) found.push(row);
    this.check();
    return found;
  }

  async #holds({ instanceId: id, state }: Seen, conditions: readonly Condition[]): Promise<boolean> {
    for (const condition of conditions) {
      let holds = satisfies(condition, { instance: state, id }, this.#slice);
      if (holds === undefined) {
        this.#slice = { work: SLICE };
        await setImmediate();
        this.check();
        holds = satisfies(condition, { instance: state, id }, this.#slice);
      }
      if (holds === undefined) throw tooCostly();
      if (!holds) return false;
    }
    return true;
  }
}

/** A statement that took too long belongs to a query that costs too much. */
export async function withinTime<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw classifyPostgresError(error).kind === 'timeout' ? tooCostly(error) : error;
  }
}
