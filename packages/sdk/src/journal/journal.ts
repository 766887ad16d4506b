import { OrreryError } from '../errors/orrery-error.js';
import type { components, paths } from '../generated/api.js';
import type { Requests } from '../requests/requests.js';

/** Names a deployment: both parts by id or by address. */
export interface DeploymentPath {
  readonly worldAddress: string;
  readonly address: string;
}

export type HistoryEntry = components['schemas']['HistoryEntry'];

const HISTORY = '/api/worlds/{worldAddress}/deployments/{address}/history';
type Query = NonNullable<paths[typeof HISTORY]['get']['parameters']['query']>;
/** Which entries of the history: filters combine; `include: 'all'` takes the whole journal. */
export type HistoryFilter = Omit<Query, 'page' | 'limit' | 'after'>;

interface Reading {
  readonly signal?: AbortSignal | undefined;
}
export interface HistoryOptions extends HistoryFilter, Reading {
  /** Begins with what follows this seq in the list, so with smaller ones. */
  readonly after?: number | undefined;
}
export interface JournalOptions extends Reading {
  /** Begins with the entry after this seq; 0, the whole journal, by default. */
  readonly after?: number | undefined;
  /** Ends with this seq; by default with the last one at the time of the call. */
  readonly until?: number | undefined;
}

const LARGEST_PAGE = 100;
/** As many entries as are never too large together (docs/history.md). */
const SAFE_PAGE = 40;

/** A deployment's journal and the history in it. */
export interface Journal {
  /** Entries, newest first. New ones that come meanwhile move nothing. */
  newestFirst(options?: HistoryOptions): AsyncGenerator<HistoryEntry, void, undefined>;
  /** All entries in order of seq. */
  inOrder(options?: JournalOptions): AsyncGenerator<HistoryEntry, void, undefined>;
  /** The seq of the last entry; 0 where there is none. */
  lastSeq(signal?: AbortSignal): Promise<number>;
}

export function createJournal({ answer }: Requests, path: DeploymentPath, onBytes?: () => void): Journal {
  const read = async (query: Query, signal?: AbortSignal) =>
    (await answer('get', HISTORY, { path, query, signal, onBytes })).body.data;
  const lastSeq = async (signal?: AbortSignal) =>
    (await read({ include: 'all', limit: 1 }, signal))[0]?.seq ?? 0;

  return {
    lastSeq,
    newestFirst: async function* ({ signal, after, ...filter } = {}) {
      let from = after === undefined ? {} : { after };
      for (;;) {
        const entries = await inFittingPages((limit) => read({ ...filter, ...from, limit }, signal));
        yield* entries;
        const last = entries.at(-1);
        if (last === undefined || last.seq === 1) return;
        from = { after: last.seq };
      }
    },
    inOrder: async function* ({ after = 0, until, signal } = {}) {
      const end = until ?? (await lastSeq(signal));
      for (let done = after; done < end; ) {
        // The list is newest first: the entries after `done` are the end of what comes before `next`.
        const entries = await inFittingPages(async (limit) => {
          const next = Math.min(done + limit, end) + 1;
          return read({ include: 'all', after: next, limit: next - 1 - done }, signal);
        });
        const fresh = entries.filter(({ seq }) => seq > done).reverse();
        yield* fresh;
        if (fresh.length === 0) return;
        done = fresh.at(-1)?.seq ?? done;
      }
    },
  };
}

async function inFittingPages<T>(read: (limit: number) => Promise<T>): Promise<T> {
  try {
    return await read(LARGEST_PAGE);
  } catch (error) {
    if (error instanceof OrreryError && error.code === 'page_too_deep') return read(SAFE_PAGE);
    throw error;
  }
}
