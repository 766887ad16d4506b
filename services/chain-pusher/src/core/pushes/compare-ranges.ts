import { batchDigest } from './batch.js';

/** Pushes that the chain holds together (`isRange`); a registry tells of each by itself. */
export interface RecordedPushes {
  readonly from: number;
  readonly to: number;
  /** Of one push its own digest, of several that of the batch (`batchDigest`). */
  readonly digest: string;
  /** Null where it cannot be found any more. */
  readonly transaction: string | null;
}

/** What a chain holds beyond what a lane knows to have sent. */
export interface ComparedRanges {
  /** Those with the lane's own digests, before the first that differs; those of one transaction are one. */
  readonly equal: readonly Omit<RecordedPushes, 'digest'>[];
  /** What ended them: another digest or a number left out, or a push that the lane does not have yet. */
  readonly end: 'ahead' | 'unread' | undefined;
}

/** `sent`: the lane's last number that was sent. `digests`: the lane's own, by number. */
export function compareRanges(
  recorded: readonly RecordedPushes[],
  sent: number,
  digests: ReadonlyMap<number, string>,
): ComparedRanges {
  const equal: RecordedPushes[] = [];
  let last = sent;
  for (const range of recorded) {
    const own = digestOf(range, digests);
    if (range.from > last + 1) return { equal: joined(equal), end: 'ahead' };
    if (own === undefined) return { equal: joined(equal), end: 'unread' };
    if (own !== range.digest) return { equal: joined(equal), end: 'ahead' };
    equal.push(range);
    last = range.to;
  }
  return { equal: joined(equal), end: undefined };
}

function digestOf({ from, to }: RecordedPushes, digests: ReadonlyMap<number, string>): string | undefined {
  const own = Array.from({ length: to - from + 1 }, (_, at) => digests.get(from + at));
  return own.every((digest) => digest !== undefined) ? batchDigest(own) : undefined;
}

/** Consecutive pushes of one transaction, as one. */
function joined(recorded: readonly RecordedPushes[]): Omit<RecordedPushes, 'digest'>[] {
  const ranges: Omit<RecordedPushes, 'digest'>[] = [];
  for (const { from, to, transaction } of recorded) {
    const last = ranges.at(-1);
    if (last !== undefined && last.transaction === transaction) ranges[ranges.length - 1] = { ...last, to };
    else ranges.push({ from, to, transaction });
  }
  return ranges;
}
