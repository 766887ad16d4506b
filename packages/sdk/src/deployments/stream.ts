import { httpError, OrreryError } from '../errors/orrery-error.js';
import type { components } from '../generated/api.js';
import { createJournal, type DeploymentPath, type Journal } from '../journal/journal.js';
import { parseJson } from '../json/parse-json.js';
import { delayAfter, pause, type Requests } from '../requests/requests.js';
import { createSilence, type Silence } from './silence.js';

/** A journal entry as the stream tells it. */
export type LiveEntry = components['schemas']['LiveExecution'];
export type Push = components['schemas']['Push'];

/** An entry of the journal, each once and in order; or how a push now stands, which may get lost. */
export type StreamEvent =
  | { readonly type: 'entry'; readonly entry: LiveEntry }
  | { readonly type: 'push'; readonly push: Push };

export interface StreamOptions {
  /**
   * Begins with what follows this seq, or this entry, whose hash is compared from the first entry on that follows it; by default
   * with what comes from now on.
   */
  readonly after?: number | Pick<LiveEntry, 'seq' | 'hash'> | undefined;
  /** `all` tells every entry of the journal (manual writes, settings) instead of executions alone. */
  readonly include?: 'all' | undefined;
  /** Ends the stream; the iteration then ends without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without an answer or a byte after which the connection is taken for lost; 45,000 by default. */
  readonly silenceMs?: number | undefined;
  /**
   * Called with true when the stream is open, and with false when it was lost, or could not be opened, and is tried again; with
   * the reason, but where the server has ended it.
   */
  readonly onConnection?: ((isOpen: boolean, reason?: OrreryError) => void) | undefined;
}

/** Three of the server's heartbeats. */
const SILENCE_MS = 45_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** A `Retry-After` may be a date, told by another clock. */
const LONGEST_PAUSE_MS = 300_000;

interface Position {
  seq: number;
  /** Of the entry `seq`, where it was told. */
  hash: string | undefined;
}

/**
 * The live stream of a deployment. It reconnects until its signal aborts, and goes on after the last entry that it told.
 * @throws OrreryError when the service refuses (the key was revoked, the deployment is gone), `tail_lost` when the
 *   journal was cut and went on differently, and `unreadable_event`
 */
export async function* streamOf(
  requests: Requests,
  path: DeploymentPath,
  { after, include, signal, silenceMs = SILENCE_MS, onConnection = () => undefined }: StreamOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const url = `/api/worlds/${encodeURIComponent(path.worldAddress)}/deployments/${encodeURIComponent(path.address)}/stream`;
  const silence = createSilence(silenceMs);
  const journal = createJournal(requests, path, silence.heard);
  let position = positionAfter(after);
  let delay = FIRST_DELAY_MS;
  try {
    for (;;) {
      const connection = new AbortController();
      const all = AbortSignal.any(signal ? [connection.signal, signal] : [connection.signal]);
      let lost: OrreryError | undefined;
      try {
        position ??= { seq: await silence.within(journal.lastSeq(all)), hash: undefined };
        const body = await silence.within(connect(requests, url, position.seq, all));
        onConnection(true);
        const missing = include === 'all' ? missingIn(journal, silence, all) : undefined;
        for await (const event of eventsOf(body, silence)) {
          if (event.event === 'push') yield { type: 'push', push: dataIn<Push>(event) };
          else yield* entriesOf(event, position, missing);
          // Not before: what the event leaves out may be what cannot be read.
          delay = FIRST_DELAY_MS;
        }
      } catch (error) {
        if (signal?.aborted) return;
        // A page in place of an answer is a reason to wait: the proxy that shows it may go.
        if (!(error instanceof OrreryError && (error.retryable || error.isUndecided))) throw error;
        lost = error;
      } finally {
        // What has not come in time is under way still.
        connection.abort();
      }
      onConnection(false, lost);
      // Also where the server has ended the stream: its next answer says why.
      await pause(Math.min(delayAfter(delay, lost), LONGEST_PAUSE_MS), signal);
      delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

const positionAfter = (after: StreamOptions['after']): Position | undefined =>
  typeof after === 'object'
    ? { seq: after.seq, hash: after.hash }
    : after === undefined
      ? undefined
      : { seq: after, hash: undefined };

async function connect(
  { open }: Requests,
  url: string,
  seq: number,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const headers = { accept: 'text/event-stream', 'last-event-id': String(seq) };
  const answer = await open(url, headers, signal);
  const isStream = /^text\/event-stream/i.test(answer.headers.get('content-type') ?? '');
  if (!isStream || answer.body === null) throw httpError(answer);
  return answer.body;
}

type Missing = (after: number, until: number) => AsyncGenerator<LiveEntry, void, undefined>;

/** Reads what the stream leaves out. @throws OrreryError `network_error` where its pages fall silent */
const missingIn = (journal: Journal, { within }: Silence, signal: AbortSignal): Missing =>
  async function* (after, until) {
    const entries = journal.inOrder({ after, until, signal });
    for (;;) {
      const next = await within(entries.next());
      if (next.done) return;
      yield next.value;
    }
  };

/** What an event tells, after the entries that the stream has left out before it; moves the position along. */
async function* entriesOf(
  event: ServerEvent,
  position: Position,
  missing: Missing | undefined,
): AsyncGenerator<StreamEvent, void, undefined> {
  const told = event.event === 'execution' ? dataIn<LiveEntry>(event) : undefined;
  const reached = Number(told?.seq ?? event.id ?? position.seq);
  // The service goes on at the journal's end where that is before what was told.
  if (reached < position.seq) throw tailLost(reached, position);
  if (missing !== undefined) {
    const until = told === undefined ? reached : reached - 1;
    for await (const entry of missing(position.seq, until)) yield* advance(position, entry);
  } else if (told === undefined && reached > position.seq) {
    position.seq = reached;
    position.hash = undefined;
  }
  if (told !== undefined) yield* advance(position, told);
}

/** @throws OrreryError `unreadable_event`: after a reconnection it would come again */
function dataIn<T>({ event, id, data }: ServerEvent): T {
  try {
    return parseJson(data) as T;
  } catch (cause) {
    const detail = `The data of ${event} ${id} are no JSON.`;
    throw new OrreryError({ code: 'unreadable_event', detail, cause });
  }
}

const tailLost = (reached: number, { seq, hash }: Position): OrreryError =>
  new OrreryError({
    code: 'tail_lost',
    detail: `Entry ${reached} does not follow entry ${seq} as it was read. Read the deployment anew.`,
    facts: { seq, ...(hash !== undefined && { hash }) },
  });

/** Tells an entry unless it was told before. @throws OrreryError `tail_lost` */
function* advance(position: Position, entry: LiveEntry): Generator<StreamEvent, void, undefined> {
  const isNext = entry.seq === position.seq + 1;
  const link = isNext ? entry.prevHash : entry.seq === position.seq ? entry.hash : undefined;
  if (link !== undefined && position.hash !== undefined && link !== position.hash)
    throw tailLost(entry.seq, position);
  if (entry.seq <= position.seq) return;
  position.seq = entry.seq;
  position.hash = entry.hash;
  yield { type: 'entry', entry };
}

/** One block of a stream of server-sent events (HTML Living Standard §9.2); a comment with an id has no data. */
export interface ServerEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/**
 * The blocks of an event stream. One that was cut off in the middle is left out. Ends with the stream.
 * @throws OrreryError `network_error` when the connection fails, or falls silent
 */
export async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  { within }: Pick<Silence, 'within'>,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await within(reader.read()).catch((cause: unknown) => {
        throw new OrreryError({ code: 'network_error', detail: 'The stream was lost.', cause });
      });
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      yield* blocks.map(parse);
    }
  } finally {
    // Frees the connection; one that has failed cannot be cancelled.
    reader.cancel().catch(() => undefined);
  }
}

function parse(block: string): ServerEvent {
  const fields = block.split(/\r?\n/).map((line) => /^(\w*): ?(.*)$/s.exec(line) ?? []);
  const valuesOf = (wanted: string) => fields.flatMap(([, name, value]) => (name === wanted ? [value] : []));
  return {
    event: valuesOf('event').at(-1) ?? 'message',
    id: valuesOf('id').at(-1),
    data: valuesOf('data').join('\n'),
  };
}
