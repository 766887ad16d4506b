import type { HistoryFilter, Orrery } from '@orrery/sdk';
import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from '@tanstack/react-query';
import { DEPLOYMENT, deploymentKey, deploymentPath, INSTANCES, splitKey } from '../api/deployments.js';
import type { DeploymentRef } from '../api/records.js';
import type { JournalEntry } from './entry-words.js';
import { lastThat } from './last-that.js';
import type { LiveSearch } from './live-search.js';
import { afterEntries, type InstanceWindow, PAGE, type SeenInstances } from './seen-instances.js';

const HISTORY = `${DEPLOYMENT}/history` as const;

/** The past does not change: what was read of it is never read again while it is in memory. */
const FOR_EVER = { staleTime: Number.POSITIVE_INFINITY, gcTime: 60_000 };

/** The end of a journal, as the stream tells it. */
export interface Tail {
  /** The seq of the last entry; 0 for an empty journal. */
  readonly head: number;
  /** The last entries that came while the page was open, oldest first: what was read before lacks only these. */
  readonly recent: readonly JournalEntry[];
  /** Counts how often old ones were dropped from `recent`: what was read before that is read again. */
  readonly generation: number;
}

/** Failed executions that are marked at most. */
export const MOST_FAILURES = 200;

/** Changes of an instance that a chart draws at most. */
export const LONGEST_LINE = 500;

/** What is read of a deployment's journal, and of its instances after any entry of that. */
export function journalOf(orrery: Orrery, ref: DeploymentRef) {
  const path = deploymentPath(ref);
  const key = deploymentKey(ref);
  const readEnd = async (signal: AbortSignal): Promise<number> => {
    const [last] = await orrery.get(HISTORY, { path, query: { include: 'all', limit: 1 }, signal });
    return last?.seq ?? 0;
  };
  const presentKey = [...key, 'instances', 'present'];
  const readInstances = async (
    atSeq: number,
    window: InstanceWindow,
    signal: AbortSignal,
  ): Promise<SeenInstances> => {
    const { schema, firstPage, lastPage } = window;
    const filter = schema === undefined ? {} : { entitySchema: schema };
    const pages = await Promise.all(
      Array.from({ length: lastPage - firstPage + 1 }, (_, index) => {
        const query = { ...filter, atSeq, page: firstPage + index, limit: PAGE };
        return orrery.answer('get', INSTANCES, { path, query, signal });
      }),
    );
    const total = pages[0]?.pagination.total ?? 0;
    return { ...window, seq: atSeq, total, rows: pages.flatMap(({ data }) => data) };
  };
  return {
    /** Where it ends; the stream moves it on. */
    tail: queryOptions({
      queryKey: [...key, 'tail'],
      queryFn: async ({ signal }): Promise<Tail> => ({
        head: await readEnd(signal),
        recent: [],
        generation: 0,
      }),
      staleTime: Number.POSITIVE_INFINITY,
    }),

    /** Where it ended when an entry was asked for: whether that one is there. */
    end: (asked: number | undefined) =>
      queryOptions({
        queryKey: [...key, 'end', asked],
        queryFn: ({ signal }) => readEnd(signal),
        gcTime: 0,
      }),

    /** Some neighbouring entries, newest first. Of the last block only what is there. */
    entries: (block: number, { head, generation }: Tail) =>
      queryOptions({
        queryKey: [...key, 'entries', block, isOpen(block, head) ? generation : 'whole'],
        queryFn: ({ signal }): Promise<readonly JournalEntry[]> =>
          orrery.get(HISTORY, { path, query: blockQuery(block), signal }),
        ...FOR_EVER,
      }),

    /** The entries that pass a filter, newest first, as many as were asked for. */
    filtered: (filter: HistoryFilter, generation: number) =>
      infiniteQueryOptions({
        queryKey: [...key, 'filtered', filter, generation],
        queryFn: ({ signal, pageParam }): Promise<readonly JournalEntry[]> => {
          const from = pageParam === null ? {} : { after: pageParam };
          return orrery.get(HISTORY, { path, query: { ...filter, ...from, limit: BLOCK }, signal });
        },
        initialPageParam: null as number | null,
        getNextPageParam: (page) => (page.length < BLOCK ? undefined : (page.at(-1)?.seq ?? null)),
        placeholderData: keepPreviousData,
        ...FOR_EVER,
      }),

    /** The seqs of the latest failed executions. */
    failures: (generation: number) =>
      queryOptions({
        queryKey: [...key, 'failures', generation],
        queryFn: async ({ signal }): Promise<readonly number[]> => {
          const { world, deployment } = ref;
          const seqs: number[] = [];
          const failed = orrery.deployment(world, deployment).history({ status: 'failed', signal });
          for await (const { seq } of failed) if (seqs.push(seq) >= MOST_FAILURES) break;
          return seqs;
        },
        ...FOR_EVER,
      }),

    /** The last entry up to `head` that was committed by a time; 0: none was. */
    seqAt: (time: Date, head: number): Promise<number> =>
      lastThat(head, async (seq) => {
        const [entry] = await orrery.get(HISTORY, {
          path,
          query: { include: 'all', after: seq + 1, limit: 1 },
        });
        return entry !== undefined && Date.parse(entry.executedAt) <= time.getTime();
      }),

    /** The latest entries that changed an instance, newest first. */
    changes: (instance: string, generation: number) =>
      queryOptions({
        queryKey: [...key, 'changes', instance, generation],
        queryFn: async ({ signal }): Promise<readonly JournalEntry[]> => {
          const { world, deployment } = ref;
          const entries: JournalEntry[] = [];
          const history = orrery.deployment(world, deployment).history({ include: 'all', instance, signal });
          for await (const entry of history) if (entries.push(entry) >= LONGEST_LINE) break;
          return entries;
        },
        placeholderData: keepPreviousData,
        ...FOR_EVER,
      }),

    /** The instances as they were after an entry. */
    pastInstances: (seq: number, window: InstanceWindow) =>
      queryOptions({
        queryKey: [...key, 'instances', seq, window],
        queryFn: ({ signal }) => readInstances(seq, window, signal),
        placeholderData: keepPreviousData,
        ...FOR_EVER,
      }),

    /** The instances as they are: what is read once, `follow` keeps up with the entries that come. */
    presentInstances: (tail: () => Tail | undefined, window: InstanceWindow) =>
      queryOptions({
        queryKey: [...presentKey, window],
        queryFn: async ({ signal }) => {
          const seen = await readInstances(tail()?.head ?? (await readEnd(signal)), window, signal);
          return afterEntries(seen, tail()?.recent ?? []) ?? seen;
        },
        placeholderData: keepPreviousData,
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 0,
      }),

    /** Moves the present instances on; where entries do not say enough, they are read anew, one reading at a time. */
    follow: (client: QueryClient, entries: readonly JournalEntry[]) => {
      const queries = client.getQueriesData<SeenInstances>({ queryKey: presentKey });
      for (const [queryKey, seen] of queries) {
        const after = seen && afterEntries(seen, entries);
        if (after !== undefined) client.setQueryData(queryKey, after);
        else void client.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false });
      }
    },

    /** The state of one instance after an entry. */
    state: (instance: string, seq: number) =>
      queryOptions({
        queryKey: [...key, 'state', instance, seq],
        queryFn: async ({ signal }) => {
          const { entitySchema, instanceId } = splitKey(instance);
          const of = { path: { ...path, instanceId }, query: { entitySchema, atSeq: seq }, signal };
          return (await orrery.get(`${INSTANCES}/{instanceId}`, of)).state;
        },
        ...FOR_EVER,
      }),
  };
}

/** The filter of the timeline as the API takes it; undefined: the whole journal. */
export function historyFilter({ entries, event, instance }: LiveSearch): HistoryFilter | undefined {
  if (entries === undefined && event === undefined && instance === undefined) return undefined;
  return {
    ...(entries === undefined && event === undefined && { include: 'all' as const }),
    ...(entries === 'failed' && { status: 'failed' as const }),
    ...(event !== undefined && { event }),
    ...(instance !== undefined && { instance }),
  };
}

/** Whether an entry that has just come passes that filter. */
export const passes = ({ entries, event, instance }: LiveSearch, entry: JournalEntry): boolean =>
  (entries === undefined || entry.kind === 'execution') &&
  (entries !== 'failed' || entry.status === 'failed') &&
  (event === undefined || entry.event === event) &&
  (instance === undefined || instance in entry.stateChanges);

/** Entries that one request reads: as many as are never too large together (docs/history.md). */
export const BLOCK = 40;

/** The block that an entry is in; block 0 holds the entries 1 to `BLOCK`. */
export const blockOf = (seq: number): number => Math.floor((seq - 1) / BLOCK);

/** The query that reads a block, newest entry first. */
export const blockQuery = (block: number) =>
  ({ include: 'all', after: (block + 1) * BLOCK + 1, limit: BLOCK }) as const;

/** Whether a block can still grow when the journal ends at `head`: what was read of it is not the last word. */
export const isOpen = (block: number, head: number): boolean => head < (block + 1) * BLOCK;

/** The timeline lists the newest entry first: row 0 is entry `head`. */
export const seqOfRow = (row: number, head: number): number => head - row;
export const rowOfSeq = (seq: number, head: number): number => head - seq;

/** The blocks that the rows `first` to `last` of the timeline lie in. */
export function blocksOfRows(first: number, last: number, head: number): number[] {
  if (head < 1 || last < first) return [];
  const newest = blockOf(Math.min(seqOfRow(first, head), head));
  const oldest = blockOf(Math.max(seqOfRow(last, head), 1));
  return Array.from({ length: newest - oldest + 1 }, (_, index) => newest - index);
}
