/** A partition, where it lives, and what it brings there. */
export interface PartitionLoad {
  readonly partition: number;
  /** The name of its database. */
  readonly home: string;
  /** Entries of the last hour. */
  readonly perHour: number;
  readonly entries: number;
  /** Whether it may be proposed: one that is on its way already is not. */
  readonly canMove: boolean;
}

export interface ProposedMove {
  readonly partition: number;
  readonly from: string;
  readonly to: string;
}

/** Databases that differ by no more than this part of what one has on average are even: a move costs more than it gains. */
const EVEN = 0.1;

type Measure = (load: PartitionLoad) => number;

/** What is evened: the rate; where nothing was written lately the entries; where there are none the number of partitions. */
const MEASURES: readonly Measure[] = [({ perHour }) => perHour, ({ entries }) => entries, () => 1];

const total = (loads: readonly PartitionLoad[], measure: Measure): number =>
  loads.reduce((sum, load) => sum + measure(load), 0);

/**
 * Moves that make the databases' loads even, by few partitions: again and again the one that leaves the smallest difference
 * goes from a database with more to the one with the least. No partition moves twice.
 */
export function proposeMoves(loads: readonly PartitionLoad[], homes: readonly string[]): ProposedMove[] {
  const measure = MEASURES.find((one) => total(loads, one) > 0);
  if (measure === undefined) return [];
  const enough = (total(loads, measure) / homes.length) * EVEN;
  const moves: ProposedMove[] = [];
  for (let now = [...loads]; ; ) {
    const next = nextMove(now, { homes, measure, enough });
    if (next === undefined) return moves;
    moves.push(next);
    now = now.map((load) =>
      load.partition === next.partition ? { ...load, home: next.to, canMove: false } : load,
    );
  }
}

interface Aim {
  readonly homes: readonly string[];
  readonly measure: Measure;
  /** A smaller difference is none. */
  readonly enough: number;
}

function nextMove(
  loads: readonly PartitionLoad[],
  { homes, measure, enough }: Aim,
): ProposedMove | undefined {
  const ranked = homes
    .map((name) => ({ name, loads: loads.filter(({ home }) => home === name) }))
    .sort((a, b) => total(b.loads, measure) - total(a.loads, measure));
  const lightest = ranked.pop();
  if (lightest === undefined) return undefined;
  for (const heavier of ranked) {
    const gap = (by: Measure) => total(heavier.loads, by) - total(lightest.loads, by);
    const before = gap(measure);
    if (before <= enough) return undefined;
    // The same by entries tells those apart that leave the same difference.
    const left = (load: PartitionLoad, by: Measure) => Math.abs(gap(by) - 2 * by(load));
    const [best] = heavier.loads
      .filter((load) => load.canMove && left(load, measure) < before)
      .sort((a, b) => left(a, measure) - left(b, measure) || left(a, ENTRIES) - left(b, ENTRIES));
    if (best !== undefined) return { partition: best.partition, from: heavier.name, to: lightest.name };
  }
  return undefined;
}

const ENTRIES: Measure = ({ entries }) => entries;
