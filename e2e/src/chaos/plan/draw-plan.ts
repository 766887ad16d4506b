import type { Random } from './random.js';

/** What a kind of fault may hit, and for how long. */
export interface FaultRange {
  /** The first word of a target names what is hit: two faults of one such name never overlap. */
  readonly targets: readonly string[];
  /** How long it lasts at most, in milliseconds; it lasts a tenth of that at least. */
  readonly longestMs: number;
}

export interface PlannedFault {
  /** Milliseconds after the load has begun. */
  readonly at: number;
  readonly kind: string;
  readonly target: string;
  readonly forMs: number;
}

export interface PlanOptions {
  readonly random: Random;
  readonly kinds: Readonly<Record<string, FaultRange>>;
  /** How long faults begin, in milliseconds. */
  readonly lengthMs: number;
  /** Between the beginnings of two faults, on average, in milliseconds. */
  readonly everyMs: number;
}

/** Draws which faults happen when: the same for the same seed. Each kind comes once before any comes again. */
export function drawPlan({ random, kinds, lengthMs, everyMs }: PlanOptions): PlannedFault[] {
  const planned: PlannedFault[] = [];
  const freeAt = new Map<string, number>();
  let left: string[] = [];
  for (let at = everyMs / 2; at < lengthMs; at += everyMs * (0.5 + random.next())) {
    if (left.length === 0) left = random.shuffled(Object.keys(kinds));
    const kind = left.pop() ?? '';
    const { targets, longestMs } = kinds[kind] as FaultRange;
    const target = random.anyOf(targets);
    const forMs = random.whole(Math.ceil(longestMs / 10), longestMs);
    const begins = Math.max(Math.round(at), freeAt.get(hitBy(target)) ?? 0);
    if (begins >= lengthMs) continue;
    freeAt.set(hitBy(target), begins + forMs);
    planned.push({ at: begins, kind, target, forMs });
  }
  return planned.sort((a, b) => a.at - b.at);
}

/** What a fault at this target hits. */
export const hitBy = (target: string): string => target.split(' ', 1)[0] ?? '';
