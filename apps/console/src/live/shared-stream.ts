import type { Deployment } from '@orrery/sdk';
import type { JournalEntry } from './entry-words.js';

/** What the tab that holds the stream tells the others. */
type Told = { readonly entry: JournalEntry } | { readonly isOpen: boolean };

interface FollowOptions {
  readonly after: number;
  readonly signal: AbortSignal;
  /** Called with each entry after `after`, once and in order. */
  readonly onEntry: (entry: JournalEntry) => void;
  readonly onConnection: (isOpen: boolean) => void;
}

/**
 * Follows a journal with one stream for all tabs of the browser, which keeps six connections to a server over HTTP/1.1: the
 * tab that holds the lock reads the stream and tells the others; when it ends, the next one gets the lock. Where the
 * browser has no locks, such as in pages over plain HTTP, each tab has a stream. @throws as `stream` does
 */
export async function followShared(deployment: Deployment, options: FollowOptions): Promise<void> {
  const { signal, onConnection } = options;
  const name = `orrery journal ${deployment.path.address}`;
  const position = createPosition(deployment, options);
  if (navigator.locks === undefined) return read(deployment, position, options, () => undefined);
  const channel = new BroadcastChannel(name);
  try {
    await new Promise<void>((resolve, reject) => {
      channel.onmessage = ({ data }: MessageEvent<Told>) => {
        if ('isOpen' in data) onConnection(data.isOpen);
        else position.take(data.entry).catch(reject);
      };
      const hold = () => {
        channel.onmessage = null;
        return read(deployment, position, options, (told) => channel.postMessage(told));
      };
      navigator.locks.request(name, { signal }, hold).then(resolve, reject);
      // What was committed between the first reading and the first message.
      position.catchUp().catch(reject);
    });
  } finally {
    channel.close();
  }
}

type Position = ReturnType<typeof createPosition>;

/** Hands on each entry once and in order: those that are missing before one are read. One at a time. */
function createPosition(deployment: Deployment, { after, signal, onEntry }: FollowOptions) {
  let seq = after;
  let last: Promise<void> = Promise.resolve();
  const advance = (entry: JournalEntry) => {
    if (entry.seq <= seq) return;
    seq = entry.seq;
    onEntry(entry);
  };
  const readUntil = async (until?: number) => {
    for await (const entry of deployment.journal({ after: seq, ...(until && { until }), signal }))
      advance(entry);
  };
  const inTurn = (step: () => Promise<void>): Promise<void> => {
    last = last.then(step);
    return last;
  };
  return {
    seq: () => seq,
    catchUp: () => inTurn(() => readUntil()),
    take: (entry: JournalEntry) =>
      inTurn(async () => {
        if (entry.seq > seq + 1) await readUntil(entry.seq - 1);
        advance(entry);
      }),
  };
}

async function read(
  deployment: Deployment,
  position: Position,
  options: FollowOptions,
  tellOthers: (told: Told) => void,
): Promise<void> {
  const onConnection = (isOpen: boolean) => {
    options.onConnection(isOpen);
    tellOthers({ isOpen });
  };
  const { signal } = options;
  const stream = deployment.stream({ after: position.seq(), include: 'all', signal, onConnection });
  for await (const event of stream) {
    if (event.type !== 'entry') continue;
    await position.take(event.entry);
    tellOthers({ entry: event.entry });
  }
}
