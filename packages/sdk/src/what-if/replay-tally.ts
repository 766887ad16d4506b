import type { HistoryEntry } from '../journal/journal.js';
import { canonicalJson, keyOf } from '../verification/hash-chain.js';
import {
  addCosts,
  type CountedOutcome,
  costOf,
  type Difference,
  type ModelCost,
  NO_COST,
  outcomeOf,
  partsIn,
  type ReplayAnswer,
} from './compare-entries.js';

/** An entry of the source beside what it has become. */
export interface ReplayedEntry {
  /** Which of the runs it is of, from 1. */
  readonly run: number;
  readonly seq: number;
  readonly original: HistoryEntry;
  readonly outcome: ReplayAnswer['outcome'];
  /** In the journal of the fork; null where it was refused or there was nothing to replay. */
  readonly replayed: HistoryEntry | null;
  /** Why it was refused. */
  readonly error: ReplayAnswer['error'];
  readonly differences: readonly Difference[];
  /** Its outcome is another one. */
  readonly parts: boolean;
}

/** The executions of one event: how they ended, and what its models cost. */
export interface EventTally {
  readonly succeeded: number;
  readonly failed: number;
  readonly refused: number;
  readonly cost: ModelCost;
}

const NO_EXECUTIONS: EventTally = { succeeded: 0, failed: 0, refused: 0, cost: NO_COST };

/** One event in both histories: the recorded executions, and those of each run. */
export interface EventComparison {
  readonly event: string;
  readonly original: EventTally;
  readonly runs: readonly EventTally[];
}

/** How the outcomes of one execution spread over the runs, the most frequent first. */
export interface Spread {
  readonly seq: number;
  readonly event: string;
  readonly outcomes: readonly (CountedOutcome & {
    readonly count: number;
    /** It is the recorded outcome. */
    readonly isOriginal: boolean;
  })[];
}

/** Counts the entries of all runs; it keeps no entry. */
export function createReplayTally() {
  const events = new Map<string, { original: EventTally; runs: EventTally[] }>();
  const spreads = new Map<number, { event: string; original: string; counts: Map<string, number> }>();
  return {
    add: ({ run, original, replayed, outcome, error, seq }: ReplayedEntry): void => {
      const { event } = original;
      if (event === null || outcome === 'skipped') return;
      const tally = events.get(event) ?? { original: NO_EXECUTIONS, runs: [] };
      events.set(event, tally);
      if (run === 1)
        tally.original = counted(tally.original, original.status ?? 'succeeded', costOf(original));
      const ended = outcomeOf({ entry: replayed, outcome, error });
      const cost = replayed === null ? NO_COST : costOf(replayed);
      tally.runs[run - 1] = counted(tally.runs[run - 1] ?? NO_EXECUTIONS, ended.status, cost);
      if (original.llm === null && replayed?.llm == null) return;
      const recorded = outcomeOf({ entry: original, outcome: 'executed', error: null });
      const spread = spreads.get(seq) ?? { event, original: canonicalJson(recorded), counts: new Map() };
      const text = canonicalJson(ended);
      spreads.set(seq, { ...spread, counts: spread.counts.set(text, (spread.counts.get(text) ?? 0) + 1) });
    },
    events: (runs: number): EventComparison[] =>
      [...events].map(([event, { original, runs: tallies }]) => ({
        event,
        original,
        runs: Array.from({ length: runs }, (_, at) => tallies[at] ?? NO_EXECUTIONS),
      })),
    spreads: (): Spread[] =>
      [...spreads].map(([seq, { event, original, counts }]) => ({
        seq,
        event,
        outcomes: [...counts]
          .sort(([, a], [, b]) => b - a)
          .map(([text, count]) => ({ ...JSON.parse(text), count, isOriginal: text === original })),
      })),
  };
}

const counted = (
  { cost, ...tally }: EventTally,
  status: 'succeeded' | 'failed' | 'refused',
  added: ModelCost,
): EventTally => ({ ...tally, [status]: tally[status] + 1, cost: addCosts(cost, added) });

/** What a run has found so far. */
export function createRunTally() {
  const parting: number[] = [];
  const touched = new Set<string>();
  let entries = 0;
  let refused = 0;
  let cost = NO_COST;
  return {
    add: ({ seq, original, replayed, outcome, differences }: ReplayedEntry): void => {
      if (outcome === 'skipped') return;
      entries += 1;
      if (outcome === 'refused') refused += 1;
      if (replayed !== null) cost = addCosts(cost, costOf(replayed));
      if (!partsIn(differences)) return;
      parting.push(seq);
      for (const { entitySchema, instanceId } of [...original.changes, ...(replayed?.changes ?? [])])
        touched.add(keyOf(entitySchema, instanceId));
    },
    /** Instances whose states may differ: what only equal entries changed is equal. */
    touched: (): readonly string[] => [...touched],
    found: () => ({ entries, refused, cost, partsAt: parting[0] ?? null, parting: [...parting] }),
  };
}
