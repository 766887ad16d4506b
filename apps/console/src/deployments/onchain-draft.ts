import type { EventBinding } from '../api/records.js';

type Filter = NonNullable<EventBinding['onchain']>;

/** Which part of an execution is pushed: all of it, nothing, or some names. */
export interface PartDraft {
  readonly what: 'all' | 'none' | 'some';
  /** Names, parted by commas or spaces. */
  readonly names: string;
}
export const draftOfFilter = (filter: Filter | null) => ({
  stateChanges: partOf(filter?.stateChanges),
  result: partOf(filter?.result),
});

type OnchainDraft = ReturnType<typeof draftOfFilter>;

function partOf(names: readonly string[] | null | undefined): PartDraft {
  if (names === null || names === undefined) return { what: 'all', names: '' };
  return { what: names.length === 0 ? 'none' : 'some', names: names.join(', ') };
}

/** The filter of a draft; null where all is pushed. */
export function filterOf({ stateChanges, result }: OnchainDraft): Filter | null {
  if (stateChanges.what === 'all' && result.what === 'all') return null;
  return { stateChanges: namesOf(stateChanges), result: namesOf(result) };
}

function namesOf({ what, names }: PartDraft): string[] | null {
  if (what === 'all') return null;
  return what === 'none' ? [] : names.split(/[\s,]+/).filter((name) => name !== '');
}

export function filterWords(filter: Filter | null): string {
  const { stateChanges, result } = draftOfFilter(filter);
  if (stateChanges.what === 'all' && result.what === 'all') return 'everything';
  const words = ({ what, names }: PartDraft) => (what === 'some' ? names : what);
  return `changes: ${words(stateChanges)}; result: ${words(result)}`;
}
