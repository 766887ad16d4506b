import { nameIn, numberFromOne, oneOf, searchOf, usePageSearch } from '../ui/search-values.js';

/** Lines that a chart can tell apart. */
export const MAX_PLOTTED = 6;
const LONGEST_NAME = 600;

const shortName = (value: unknown): string | undefined => {
  const name = nameIn(value);
  return name !== undefined && name.length <= LONGEST_NAME ? name : undefined;
};
/** `schema:instanceId`. */
const instanceIn = (value: unknown): string | undefined => {
  const name = shortName(value);
  return name?.includes(':') ? name : undefined;
};
const namesIn = (value: unknown, read: typeof shortName): readonly string[] | undefined => {
  const names = (Array.isArray(value) ? value : [value]).flatMap((one) => read(one) ?? []);
  return names.length === 0 ? undefined : [...new Set(names)].slice(0, MAX_PLOTTED);
};
const isNone = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Reads what the live page shows, as its address holds it. What is absent takes its default. */
export const readLiveSearch = searchOf({
  /** The entry after which the state is shown; absent: the last one, as entries come. */
  seq: (value) => numberFromOne(Number(value)),
  /** The only entity schema whose instances are shown. */
  schema: shortName,
  /** Which entries the timeline lists; absent: the whole journal. */
  entries: oneOf(['executions', 'failed'] as const),
  /** The only event whose executions the timeline lists. */
  event: shortName,
  /** The only instance whose changes the timeline lists. */
  instance: instanceIn,
  /** Instances that the chart draws. */
  plot: (value) => namesIn(value, instanceIn),
  /** Numeric attributes that the chart draws; empty: none; absent: the one that changes most often. */
  of: (value) => (isNone(value) ? [] : namesIn(value, shortName)),
  /** The chart's horizontal axis; absent: seq. */
  over: oneOf(['time'] as const),
});
export type LiveSearch = ReturnType<typeof readLiveSearch>;

export const useLiveSearch = () =>
  usePageSearch('/worlds/$world/deployments/$deployment/live', { replace: true });

/** Adds what is not there and takes away what is; undefined for none, so that the address does not hold it. */
export function toggled(names: readonly string[] | undefined, name: string): readonly string[] | undefined {
  const others = (names ?? []).filter((one) => one !== name);
  const next = names?.includes(name) ? others : [...others, name].slice(-MAX_PLOTTED);
  return next.length > 0 ? next : undefined;
}
