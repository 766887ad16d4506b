/** What the live tab shows, as the address bar holds it. What is absent takes its default. */
export interface LiveSearch {
  /** The entry after which the state is shown; absent: the last one, as entries come. */
  readonly seq?: number;
  /** The only entity schema whose instances are shown. */
  readonly schema?: string;
  /** Which entries the timeline lists; absent: the whole journal. */
  readonly entries?: EntryFilter;
  /** The only event whose executions the timeline lists. */
  readonly event?: string;
  /** The only instance, as `schema:instanceId`, whose changes the timeline lists. */
  readonly instance?: string;
  /** Instances that the chart draws, as `schema:instanceId`. */
  readonly plot?: readonly string[];
  /** Numeric attributes that the chart draws; empty: none; absent: the one that changes most often. */
  readonly of?: readonly string[];
  /** The chart's horizontal axis; absent: seq. */
  readonly over?: 'time';
}

export const ENTRY_FILTERS = ['executions', 'failed'] as const;
export type EntryFilter = (typeof ENTRY_FILTERS)[number];

/** Lines that a chart can tell apart. */
export const MAX_PLOTTED = 6;
const LONGEST_NAME = 600;

/** Reads what an address may hold; what it cannot mean is left out. */
export function readLiveSearch(search: Readonly<Record<string, unknown>>): LiveSearch {
  const seq = Number(search['seq']);
  const entries = ENTRY_FILTERS.find((one) => one === search['entries']);
  const schema = nameIn(search['schema']);
  const event = nameIn(search['event']);
  const instance = nameIn(search['instance']);
  const plot = namesIn(search['plot']).filter((name) => name.includes(':'));
  const of = namesIn(search['of']);
  return {
    ...(Number.isSafeInteger(seq) && seq >= 1 && { seq }),
    ...(schema !== undefined && { schema }),
    ...(entries && { entries }),
    ...(event !== undefined && { event }),
    ...(instance?.includes(':') && { instance }),
    ...(plot.length > 0 && { plot }),
    ...((of.length > 0 || isNone(search['of'])) && { of }),
    ...(search['over'] === 'time' && { over: 'time' }),
  };
}

/** A name of digits alone comes out of the address as a number. */
function nameIn(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' && text.length <= LONGEST_NAME ? text : undefined;
}

const namesIn = (value: unknown): string[] =>
  [...new Set((Array.isArray(value) ? value : [value]).flatMap((one) => nameIn(one) ?? []))].slice(
    0,
    MAX_PLOTTED,
  );

const isNone = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Adds what is not there and takes away what is; undefined for none, so that the address does not hold it. */
export function toggled(names: readonly string[] | undefined, name: string): readonly string[] | undefined {
  const others = (names ?? []).filter((one) => one !== name);
  const next = names?.includes(name) ? others : [...others, name].slice(-MAX_PLOTTED);
  return next.length > 0 ? next : undefined;
}
