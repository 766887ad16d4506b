import type { HistoryEntry } from '../journal/journal.js';

/** Why an execution was not decided again (docs/history.md). `no_states`: the source of the clone cannot be read. */
export type NotRerun =
  | 'version_1'
  | 'other_evaluator'
  | 'no_definition'
  | 'model'
  | 'unknown_members'
  | 'outside'
  | 'no_states';

/** Why a seed of random numbers was not held to what it is made of (docs/history.md). */
export type NotCheckedSeed = 'unrevealed' | 'other_beacon' | 'replayed';

/**
 * What became of the random numbers of one entry. `holds`: they are made of what it names; `differs`: they are not, or one of the
 * entries has another hash than its content, or the secret was told before; `too_far`: the commitment is not among the 10,000
 * entries before it, or the reveal not among the 10,000 after it.
 */
export interface DrawVerdict {
  readonly outcome: 'holds' | 'differs' | 'too_far' | NotCheckedSeed;
  /** The entry that commits to the secret, and the one that reveals it, if they were found. */
  readonly committed?: number | undefined;
  readonly revealed?: number | undefined;
}

/** What became of the executions: how many were decided again, and how many not, by the reason. */
export interface CheckedDecisions {
  readonly rerun: number;
  readonly notRerun: Readonly<Partial<Record<NotRerun, number>>>;
  /** The same of the seeds of random numbers; absent: none were drawn. */
  readonly seeds?: {
    readonly checked: number;
    readonly notChecked: Readonly<Partial<Record<NotCheckedSeed, number>>>;
  };
}

export type DecisionFault = 'decision_differs' | 'definition_differs' | 'exchange_differs' | 'draws_differ';

/** The entry that does not hold: the one that is checked, or an earlier one whose secret it reveals. */
type Found = { readonly seq: number; readonly what: DecisionFault } | undefined;

/** Follows a journal from its first entry. */
export interface DecisionCheck {
  readonly counts: CheckedDecisions;
  /** Whether the entry is what its definition gives, on the states before it. */
  check(entry: HistoryEntry): Found | Promise<Found>;
  follow(entry: HistoryEntry): void;
  /** SHA-256 of a text as UTF-8, in hex, at once. */
  sha256(text: string): string;
}
