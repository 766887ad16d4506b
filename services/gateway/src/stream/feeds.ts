import { type JournalFact, liveExecutionOf } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { createHeadWatch, createJournalClient } from './watches.js';

/** An entry as streams send it, written once for all of them. */
interface Line {
  readonly seq: number;
  readonly bytes: Buffer;
  readonly kind: JournalFact['kind'];
}

/** What follows a position: one text for all streams that are there. */
export interface Chunk {
  readonly bytes: Buffer;
  /** Streams that hold it until their clients have taken it. */
  holders: number;
  /** Of its last entry. */
  readonly seq: number;
  /** Its last entry ends the stream. */
  readonly isEnd: boolean;
}

/** The latest entries of one journal, kept for all streams that follow it. */
export interface Feed {
  /** What follows the entry `seq`, `undefined` where nothing does yet; `before` where it is no longer kept. @throws what the journal could not be read for */
  after(seq: number, endsAt: EndsAt): Chunk | 'before' | undefined;
  /** Resolves once there is more than at the call, or the signal aborts. */
  growth(signal: AbortSignal): Promise<void>;
}

/** Whether an entry is the last that a reader may see. */
export type EndsAt = (line: Pick<Line, 'seq' | 'kind'>) => boolean;

interface FeedDependencies {
  readonly journal: Pick<ReturnType<typeof createJournalClient>, 'after'>;
  readonly heads: Pick<ReturnType<typeof createHeadWatch>, 'beyond'>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** One feed of each deployment that is followed, for as long as it is. */
export function createFeeds(dependencies: FeedDependencies) {
  const feeds = new Map<string, ReturnType<typeof startFeed>>();
  let streams = 0;
  return {
    /** Does work with the feed of a deployment, which keeps at least what comes after `head`, an entry that the journal has. */
    whileFollowing: async <T>(
      deployment: string,
      head: number,
      work: (feed: Feed) => Promise<T>,
    ): Promise<T> => {
      const feed = feeds.get(deployment) ?? startFeed(dependencies, deployment, head, () => streams);
      feeds.set(deployment, feed);
      feed.users += 1;
      streams += 1;
      try {
        return await work(feed);
      } finally {
        streams -= 1;
        feed.users -= 1;
        if (feed.users === 0 || feed.hasFailed()) {
          if (feeds.get(deployment) === feed) feeds.delete(deployment);
          if (feed.users === 0) feed.stop();
        }
      }
    },
  };
}

/** Bytes of the latest entries that are kept of one journal; at least the last page. */
const KEPT_BYTES = 1024 * 1024;
/** Writes to all streams of this process in a second, roughly: beyond it, entries that come meanwhile share a write. */
const WRITES_PER_SECOND = 5000;
const LONGEST_PAUSE_MS = 1000;
/** Positions of which the text that follows is kept: streams that follow live are at one, or on their way to it. */
const KEPT_CHUNKS = 2;
/** Bytes that one text has, unless its first entry has more: each that a client has not taken is held for it. */
const CHUNK_BYTES = 256 * 1024;
/** Streams that are woken before others of the process have their turn. */
const WOKEN_AT_ONCE = 50;

function startFeed(
  { journal, heads, clock }: FeedDependencies,
  deployment: string,
  head: number,
  streams: () => number,
) {
  const ended = new AbortController();
  const lines: Line[] = [];
  /** The last entry that is not kept. */
  let floor = head;
  let failure: unknown;
  let chunks = new Map<string, Chunk>();
  let waiting = new Set<() => void>();

  const keep = (entries: readonly JournalFact[]) => {
    lines.push(...entries.map(lineOf));
    chunks = new Map();
    let bytes = lines.reduce((sum, line) => sum + line.bytes.length, 0);
    while (bytes > KEPT_BYTES && lines.length > entries.length) {
      const [oldest] = lines.splice(0, 1);
      bytes -= oldest?.bytes.length ?? 0;
      floor = oldest?.seq ?? floor;
    }
  };
  const takeWaiting = () => {
    const taken = [...waiting];
    waiting = new Set();
    return taken;
  };
  /** Wakes streams some at a time and spread over the pause, so that executions have their turns between them. */
  const wake = async (signal: AbortSignal) => {
    const woken = takeWaiting();
    const turns = Math.ceil(woken.length / WOKEN_AT_ONCE);
    const pause = Math.min(LONGEST_PAUSE_MS, (streams() * 1000) / WRITES_PER_SECOND) / turns;
    for (let at = 0; at < woken.length; at += WOKEN_AT_ONCE) {
      for (const tell of woken.slice(at, at + WOKEN_AT_ONCE)) tell();
      if (pause >= 1) await clock.sleep(pause, signal);
    }
  };
  const run = async ({ signal }: AbortController) => {
    for (let last = head; !signal.aborted; ) {
      const { entries } = await journal.after(deployment, last, signal);
      if (entries.length === 0) {
        await heads.beyond(deployment, last, signal);
        continue;
      }
      keep(entries);
      last = entries.at(-1)?.seq ?? last;
      await wake(signal);
    }
  };
  run(ended).catch((error: unknown) => {
    failure = error;
    for (const tell of takeWaiting()) tell();
  });
  return {
    users: 0,
    hasFailed: () => failure !== undefined,
    stop: () => ended.abort(),
    after: (seq: number, endsAt: EndsAt) => {
      if (seq < floor) return 'before' as const;
      const following = upTo(CHUNK_BYTES, lines, lines.findLastIndex((line) => line.seq <= seq) + 1);
      if (following.length === 0) {
        if (failure !== undefined) throw failure;
        return undefined;
      }
      const end = following.findIndex(endsAt);
      const name = `${seq} ${end}`;
      const known = chunks.get(name);
      if (known !== undefined) return known;
      const chunk = chunkOf(end < 0 ? following : following.slice(0, end + 1), end >= 0);
      chunks.set(name, chunk);
      const [oldest] = chunks.keys();
      if (chunks.size > KEPT_CHUNKS && oldest !== undefined) chunks.delete(oldest);
      return chunk;
    },
    growth: (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        const tell = () => {
          signal.removeEventListener('abort', tell);
          waiting.delete(tell);
          resolve();
        };
        if (signal.aborted || failure !== undefined) return resolve();
        signal.addEventListener('abort', tell, { once: true });
        waiting.add(tell);
      }),
  };
}

/** Lines from a place on that have so many bytes together, and always the first. */
function upTo(bytes: number, lines: readonly Line[], from: number): readonly Line[] {
  let sum = 0;
  const end = lines.findIndex((line, at) => {
    if (at >= from) sum += line.bytes.length;
    return at > from && sum > bytes;
  });
  return lines.slice(from, end < 0 ? undefined : end);
}

/** The entries of a page as one text, for a reader that is behind what a feed keeps. */
export function chunkOfPage(entries: readonly JournalFact[], endsAt: EndsAt): Chunk | undefined {
  const end = entries.findIndex(endsAt);
  const told = end < 0 ? entries : entries.slice(0, end + 1);
  return told.length === 0 ? undefined : chunkOf(told.map(lineOf), end >= 0);
}

const chunkOf = (lines: readonly Line[], isEnd: boolean): Chunk => ({
  bytes: Buffer.concat(lines.map(({ bytes }) => bytes)),
  holders: 0,
  seq: lines.at(-1)?.seq ?? 0,
  isEnd,
});

/** Who follows the whole journal sees by the id of a comment that there is more than executions, and reads it. */
const lineOf = (fact: JournalFact): Line => ({
  seq: fact.seq,
  kind: fact.kind,
  bytes: Buffer.from(
    fact.kind === 'execution'
      ? `id: ${fact.seq}\nevent: execution\ndata: ${JSON.stringify(liveExecutionOf(fact))}\n\n`
      : heartbeat(fact.seq),
  ),
});

/** Keeps a connection open through proxies and advances the client's last id. */
export const heartbeat = (id: number): string => `: still here\nid: ${id}\n\n`;
