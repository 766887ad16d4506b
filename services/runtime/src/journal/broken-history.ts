import { type Divergence, ServiceError } from '@orrery/contracts';
import { isUniqueViolation } from '@orrery/database';
import type { Clock, Semaphore } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type { VerifyBounds } from './verify/compare-instances.js';
import { type VerifiedDeployment, verifyJournal } from './verify/verify-journal.js';

export interface BrokenHistoryDependencies {
  readonly db: Db;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Bounds how many verifications run in this process. */
  readonly verifying: Semaphore;
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

/** The share of the time until the deadline that the search may take. */
const SHARE_OF_TIME = 0.6;

/** Undefined where the check finds nothing in its time, or another one is under way. */
async function findDivergence(
  { db, clock, verifying }: BrokenHistoryDependencies,
  deployment: VerifiedDeployment,
  seq: number,
  { signal, deadline }: CallBounds,
): Promise<Divergence | undefined> {
  const latest = clock.monotonic() + (deadline - clock.monotonic()) * SHARE_OF_TIME;
  const bounds = { signal, isEnough: () => clock.monotonic() >= latest };
  try {
    const search = () => verifyJournal(db, deployment, { from: 1, limit: seq }, bounds);
    return (await verifying.run(signal, search)).firstDivergence ?? undefined;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'request_in_flight') return undefined;
    throw error;
  }
}

function historyBroken(seq: number, found: Divergence | undefined, cause: unknown): ServiceError {
  const place =
    found === undefined ? `somewhere up to entry ${seq}` : `at entry ${found.seq} (${found.what})`;
  const detail =
    `The history does not hold ${place}, so what was there after entry ${seq} is not known. ` +
    'GET …/history/verify checks all of it.';
  const facts = { atSeq: seq, ...(found && { divergence: factsOf(found) }) };
  return new ServiceError('history_broken', detail, { facts, cause });
}

const factsOf = ({ instance, ...place }: Divergence) => ({
  ...place,
  ...(instance !== undefined && { instance }),
});
