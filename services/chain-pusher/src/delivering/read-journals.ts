import { type Bus, serviceCall } from '@orrery/bus';
import { type JournalFact, runtimeContract } from '@orrery/contracts';
import { type Clock, createSemaphore } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import { type DeliveredEntry, deliveredEntry } from '../core/webhooks/delivered-entry.js';

/** The entry that a webhook is done with; `hash` null where it is not known. */
export interface Position {
  readonly seq: number;
  readonly hash: string | null;
}

/** What comes after a position. */
export type Next =
  | { readonly is: 'entry'; readonly entry: DeliveredEntry; readonly head: number }
  | { readonly is: 'end' }
  /** The journal does not have the entry of the position any more. */
  | { readonly is: 'lost'; readonly head: number };

export type Journals = ReturnType<typeof readJournals>;

const CALL_TIMEOUT_MS = 10_000;
/** Entries of one `journal.range`; a reply has up to 4 MiB. */
const PAGE = 50;
const AT_ONCE = 8;
/** Bytes of entries that are kept for the other webhooks of a deployment, roughly. */
const KEPT_BYTES = 32 * 1024 * 1024;

/** Entries that a journal loses are not sent for longer than this, in milliseconds. */
const KEPT_MS = 60_000;

interface Kept {
  readonly entry: DeliveredEntry;
  readonly head: number;
}

/** Journals, entry by entry, in the form in which webhooks get them. Many webhooks of a deployment share one reading. */
export function readJournals(bus: Pick<Bus, 'call'>, clock: Clock, signal: AbortSignal) {
  const kept = new LRUCache<string, Kept>({
    maxSize: KEPT_BYTES,
    ttl: KEPT_MS,
    sizeCalculation: ({ entry }) => entry.body.length + 500,
  });
  const reading = new Map<string, Promise<Page>>();
  const slots = createSemaphore(AT_ONCE);
  const keyOf = (deployment: string, seq: number) => `${deployment} ${seq}`;

  const range = (deployment: string, after: number, limit: number) =>
    slots.run(signal, () =>
      bus.call(
        runtimeContract.rpcs['journal.range'],
        { deployment, after, limit },
        serviceCall('chain-pusher', clock, CALL_TIMEOUT_MS, signal),
      ),
    );
  const readPage = async (deployment: string, after: number): Promise<Page> => {
    const { entries, head } = await range(deployment, after, PAGE);
    const page = entries.map((fact) => ({ entry: deliveredEntry(fact), head }));
    for (const one of page) kept.set(keyOf(deployment, one.entry.seq), one);
    // The others are asked for one by one: only those that fit are kept.
    return { first: page[0], second: page[1], head };
  };
  /** One reading for all who ask for the same meanwhile. */
  const pageAfter = (deployment: string, after: number): Promise<Page> => {
    const key = keyOf(deployment, after);
    const begun = reading.get(key) ?? readPage(deployment, after).finally(() => reading.delete(key));
    reading.set(key, begun);
    return begun;
  };
  return {
    next: async (deployment: string, position: Position): Promise<Next> => {
      const follows = ({ entry }: Kept) =>
        entry.seq === position.seq + 1 && (position.hash === null || entry.prevHash === position.hash);
      const known = kept.get(keyOf(deployment, position.seq + 1));
      if (known !== undefined && follows(known)) return { is: 'entry', ...known };
      // Begins with the entry of the position, which must still be there.
      const { first, second, head } = await pageAfter(deployment, Math.max(0, position.seq - 1));
      const next = position.seq === 0 ? first : second;
      const isKnown = position.hash === null || position.seq === 0 || first?.entry.hash === position.hash;
      if (!isKnown || head < position.seq) {
        kept.clear();
        return { is: 'lost', head };
      }
      return next === undefined ? { is: 'end' } : { is: 'entry', ...next };
    },
    /** One entry, by its place. Undefined: the journal has none there. */
    at: async (deployment: string, seq: number): Promise<DeliveredEntry | undefined> =>
      (await pageAfter(deployment, seq - 1)).first?.entry,
    /** One entry as the journal has it now. Undefined: it has none there. */
    factAt: async (deployment: string, seq: number): Promise<JournalFact | undefined> =>
      (await range(deployment, seq - 1, 1)).entries[0],
    /** The numbers of the entries `tail_lost`, as far as the runtime tells them. */
    tailsLost: async (deployment: string): Promise<number[]> => {
      const call = serviceCall('chain-pusher', clock, CALL_TIMEOUT_MS, signal);
      const read = runtimeContract.rpcs['lifecycle.read'];
      const { entries } = await bus.call(read, { deployment, after: 0 }, call);
      return entries.flatMap(({ kind, seq }) => (kind === 'tail_lost' ? [seq] : []));
    },
    /** Where the journal ends now. */
    head: async (deployment: string): Promise<{ seq: number; hash: string | null }> => {
      const { head } = await range(deployment, Number.MAX_SAFE_INTEGER, 1);
      const { entries } = await range(deployment, Math.max(0, head - 1), 1);
      const last = entries[0];
      return { seq: last?.seq ?? head, hash: last?.hash ?? null };
    },
  };
}

/** The first entries of a page. */
interface Page {
  readonly first: Kept | undefined;
  readonly second: Kept | undefined;
  readonly head: number;
}
