import type { components } from '../generated/api.js';
import type { Journal } from '../journal/journal.js';

/** Which entries of the history are replayed, and what is different. */
export interface ReplayOptions {
  /** The first entry that is replayed, by its seq; 2, what follows the creation, by default. */
  readonly from?: number | undefined;
  /** The last one; the last of the journal by default. */
  readonly to?: number | undefined;
  /** Event → the version that is executed, as it is now; other events are decided by their recorded definitions. */
  readonly versions?: Readonly<Record<string, number>> | undefined;
  /** The model that is asked in place of the recorded one. */
  readonly model?: string | undefined;
  /** Seq → the input in place of the recorded one. */
  readonly inputs?: Readonly<Record<number, components['schemas']['JsonObject']>> | undefined;
  /** How often it is replayed, 1 to 20, each time in a fork of its own: the outcomes of models spread. */
  readonly times?: number | undefined;
  /** The forks stay. They have the deployment's journal from then on, and stay quiet. */
  readonly keep?: boolean | undefined;
  /** US dollars that models may cost each run in a UTC day; the budget of the deployment by default. */
  readonly budgetUsd?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ReplayRange {
  readonly from: number;
  readonly to: number;
}

export const MOST_REPLAYED = 10_000;
const MOST_RUNS = 20;
/** The first entry creates the deployment. */
const FIRST = 2;

/** @throws RangeError */
export function checkOptions({ from = FIRST, to = from, times = 1 }: ReplayOptions): void {
  if (!Number.isSafeInteger(from) || from < FIRST)
    throw new RangeError('A replay begins at entry 2 or later.');
  if (!Number.isSafeInteger(to) || to < from) throw new RangeError('A replay does not end before it begins.');
  if (!Number.isSafeInteger(times) || times < 1 || times > MOST_RUNS)
    throw new RangeError(`A replay is done 1 to ${MOST_RUNS} times.`);
}

/** @throws RangeError for entries that the journal does not have, and for too many */
export async function rangeOf(
  { from = FIRST, to, inputs = {}, signal }: ReplayOptions,
  journal: Pick<Journal, 'lastSeq'>,
): Promise<ReplayRange> {
  const last = await journal.lastSeq(signal);
  const range = { from, to: to ?? last };
  if (range.to > last) throw new RangeError(`The journal ends at entry ${last}.`);
  if (range.from > range.to)
    throw new RangeError(`There is nothing to replay: the journal ends at entry ${last}.`);
  if (range.to - range.from >= MOST_REPLAYED)
    throw new RangeError(`A replay has at most ${MOST_REPLAYED} entries: give a shorter range.`);
  const outside = Object.keys(inputs).find((seq) => Number(seq) < range.from || Number(seq) > range.to);
  if (outside !== undefined)
    throw new RangeError(`An input is given for entry ${outside}, which is not replayed.`);
  return range;
}
