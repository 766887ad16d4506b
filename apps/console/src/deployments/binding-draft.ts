import type { EventBinding } from '../api/records.js';
import { listOf, listText } from '../ui/typed-text.js';

/** What of a binding can be changed. */
export type Bound = Pick<EventBinding, 'eventVersion' | 'targetChains' | 'onchain'>;

/** What `wanted` has otherwise than `opened`: those members alone are sent, so that the others stay as they are. */
export function changeOf(opened: Bound, wanted: Bound): Partial<Bound> {
  const before = inOneOrder(opened);
  const changed = Object.entries(inOneOrder(wanted)).filter(
    ([name, value]) => JSON.stringify(before[name as keyof Bound]) !== JSON.stringify(value),
  );
  return Object.fromEntries(changed);
}

const inOneOrder = ({ eventVersion, targetChains, onchain }: Bound): Bound => ({
  eventVersion,
  targetChains: targetChains.toSorted(),
  onchain: filterOf(draftOfFilter(onchain)),
});

/** Whether a change replaces what somebody else has bound since the form was opened. */
export function isLossOf(now: Bound, opened: Bound, change: Partial<Bound>): boolean {
  const theirs = changeOf(opened, now);
  const left = changeOf(now, { ...now, ...change });
  return Object.keys(left).some((name) => name in theirs);
}

type Filter = NonNullable<EventBinding['onchain']>;

/** Which part of an execution is pushed: all of it, nothing, or some names. */
export interface PartDraft {
  readonly what: 'all' | 'none' | 'some';
  /** Names, parted by commas or spaces, or a JSON list of them. */
  readonly names: string;
}
export interface OnchainDraft {
  /** Executions, or only heads of the journal that cover them. */
  readonly what: 'contents' | 'heads';
  readonly stateChanges: PartDraft;
  readonly result: PartDraft;
}

export const draftOfFilter = (filter: Filter | null): OnchainDraft => ({
  what: filter?.head === undefined ? 'contents' : 'heads',
  stateChanges: partOf(filter?.stateChanges),
  result: partOf(filter?.result),
});

const BETWEEN_NAMES = /[\s,]+/;

function partOf(names: readonly string[] | null | undefined): PartDraft {
  if (names === null || names === undefined) return { what: 'all', names: '' };
  return { what: names.length === 0 ? 'none' : 'some', names: listText(names, BETWEEN_NAMES) };
}

/** The filter of a draft; null where all is pushed. */
export function filterOf({ what, stateChanges, result }: OnchainDraft): Filter | null {
  if (what === 'heads') return { head: 'hourly' };
  if (stateChanges.what === 'all' && result.what === 'all') return null;
  return { stateChanges: namesOf(stateChanges), result: namesOf(result) };
}

function namesOf({ what, names }: PartDraft): string[] | null {
  if (what === 'all') return null;
  return what === 'none' ? [] : listOf(names, BETWEEN_NAMES);
}

export function filterWords(filter: Filter | null): string {
  const { what: kind, stateChanges, result } = draftOfFilter(filter);
  if (kind === 'heads') return 'the head, each hour';
  if (stateChanges.what === 'all' && result.what === 'all') return 'everything';
  const words = ({ what, names }: PartDraft) => (what === 'some' ? names : what);
  return `changes: ${words(stateChanges)}; result: ${words(result)}`;
}
