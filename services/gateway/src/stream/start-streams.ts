import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Bus } from '@orrery/bus';
import {
  asServiceError,
  type DeploymentRecord,
  journalHeads,
  type liveContract,
  parseRequest,
  pushResult,
  type RequestOf,
  runtimeContract,
  type ServiceError,
} from '@orrery/contracts';
import { type Clock, createSemaphore, type Logger, startPollLoop, withinTime } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { CallOperation, GatewayCall, RoutedRpc } from '../core/requests/operation.js';
import { requestSchema } from '../core/requests/request-schema.js';
import { bearerToken, type KeyVerifier } from '../http/access/access.js';
import { PIECE_BYTES, TAKEN_WITHIN_MS } from '../http/load/answers.js';
import { boundEach } from '../http/load/bound-each.js';
import { callOf, type RouteContext, readRequest } from '../http/routes/operation-route.js';
import type { FindPublished } from '../public/published.js';
import { boundHolders, boundStrangers, boundUntaken, full, type StreamBounds } from './bounds.js';
import { chunkOfPage, createFeeds, type EndsAt, type Feed, heartbeat } from './feeds.js';
import { createHeadWatch, createJournalClient, createPushWatch, createWhileUsed } from './watches.js';

export interface StreamCall extends GatewayCall {
  /** To be verified again and again while the stream is open; undefined for who reads without a key. */
  token: string | undefined;
  /** Writes the head and returns the open response; errors cannot be answered with a status afterwards. */
  begin(): ServerResponse;
}

/** Serves a stream until it ends by itself or the call's signal aborts. */
export type StreamHandler = (request: unknown, call: StreamCall) => Promise<void>;

export interface StreamRouteContext extends RouteContext {
  stream: StreamHandler;
  /** Open streams of this process; beyond them new ones are refused. Those without a key are counted apart. */
  maxStreams: number;
  streamBounds: StreamBounds;
  rates: unknown;
}

/** Makes a route that answers with server-sent events. Open streams end when the application closes. */
export function addStreamRoute(app: FastifyInstance, rpc: RoutedRpc, context: StreamRouteContext): void {
  const schema = requestSchema(rpc);
  const closing = new AbortController();
  const isOpen = rpc.http.opens !== undefined;
  const bound = isOpen ? boundStrangers(context) : boundHolders(context);
  app.addHook('preClose', async () => closing.abort());
  app.get(rpc.http.path, { onRequest: context.guards(rpc), exposeHeadRoute: false }, async (http, reply) => {
    const request = readRequest(http, schema);
    // The gateway serves the stream itself, so it checks the request; its parts go to the services unparsed.
    parseRequest(rpc, request);
    const call = callOf(http, reply, context);
    const leave = bound(http);
    try {
      await context.stream(request, {
        ...call,
        signal: AbortSignal.any([call.signal, closing.signal]),
        token: isOpen ? undefined : bearerToken(http.raw),
        begin: () => beginStream(reply, context.admission),
      });
    } finally {
      leave();
    }
    return reply;
  });
}

function beginStream(reply: FastifyReply, admission: StreamRouteContext['admission']): ServerResponse {
  admission.release(reply);
  const headers: OutgoingHttpHeaders = {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
    // The connection serves nothing else afterwards, so that closing does not wait for it.
    connection: 'close',
  };
  reply.hijack();
  reply.raw.writeHead(200, headers);
  reply.raw.flushHeaders();
  return reply.raw;
}

interface StreamContext {
  call: CallOperation;
  findPublished: FindPublished;
  keys: KeyVerifier;
  clock: Clock;
  logger: Logger;
  deadlineMs: number;
  streamBounds: StreamBounds;
}

type StreamRequest = RequestOf<(typeof liveContract)['rpcs']['deployments.stream']>;
type Shared = ReturnType<typeof startShared>;

export const startStreams = (bus: Pick<Bus, 'call' | 'listen'>, context: StreamContext): StreamHandler =>
  streamDeployment(context, startShared(bus, context));

/**
 * The live stream of a deployment: executions as they commit, after `Last-Event-ID` or from now on. It ends with an
 * event `end` that names the reason when access is lost or the deployment is deleted. Clients that are cut off otherwise
 * reconnect and miss nothing.
 */
export function streamDeployment(context: StreamContext, shared: Shared): StreamHandler {
  const feeds = createFeeds({ ...shared, clock: context.clock });
  const untaken = boundUntaken(context.streamBounds.untakenBytes ?? UNTAKEN_BYTES);
  const ofDeployment = boundEach(context.streamBounds.perDeployment, () =>
    full('Too many streams of this deployment are open.'),
  );
  return async (raw, call) => {
    const request = raw as StreamRequest;
    const find = () => visibleDeployment(context, request, call);
    const { address } = await find();
    await shared.whileListening(async () => {
      const head = await shared.journal.headOf(address, 0, call.signal);
      const lastEventId = request.headers['last-event-id'];
      const seq = lastEventId === undefined ? head : Math.min(Number(lastEventId), head);
      const serveIt = () =>
        feeds.whileFollowing(address, head, (feed) =>
          serve({ ...context, ...shared, deployment: address, find, feed, head, untaken }, call, { seq }),
        );
      if (call.token !== undefined) return serveIt();
      const leave = ofDeployment(address);
      try {
        // An entry that unpublishes it later comes after the head.
        await find();
        await serveIt();
      } finally {
        leave();
      }
    });
  };
}

/** Milliseconds after its commit at which an execution is seen at the latest if its broadcast is lost. */
const POLL_MS = 2000;

/**
 * What live streams share: the subscription to journal heads, and one poll of each followed journal for any number of
 * streams. Both run while any stream is open.
 */
function startShared(bus: Pick<Bus, 'call' | 'listen'>, { clock, logger }: StreamContext) {
  const journal = createJournalClient(bus, clock);
  const heads = createHeadWatch(journal.headOf);
  const pushes = createPushWatch();
  const loop = { name: 'live streams', intervalMs: POLL_MS, runOnce: heads.poll, clock, logger };
  /** Also while broadcasts are unavailable. */
  const whilePolling = createWhileUsed(
    async (signal) => void startPollLoop({ ...loop, signal }),
    () => undefined,
  );
  const whileHearing = createWhileUsed(
    async (signal) => {
      await bus.listen(journalHeads, (grown) => heads.onHeads(grown.heads), signal);
      await bus.listen(pushResult, pushes.onChanged, signal);
    },
    (err) => logger.warn({ err }, 'broadcasts unavailable; live streams poll every 2 s and lack pushes'),
  );
  const whileListening = (work: () => Promise<void>) => whilePolling(() => whileHearing(work));
  return { journal, heads, pushes, whileListening };
}

async function visibleDeployment(
  { call: callOperation, findPublished, clock, deadlineMs }: StreamContext,
  { params }: StreamRequest,
  call: StreamCall,
): Promise<Pick<DeploymentRecord, 'address'>> {
  if (call.token === undefined) return findPublished(params.address);
  const request = { params, query: {}, headers: {}, body: {} };
  const deadline = clock.monotonic() + deadlineMs;
  const reply = await callOperation(runtimeContract.rpcs['deployments.get'], request, { ...call, deadline });
  return reply.data as DeploymentRecord;
}

interface Served extends StreamContext, Shared {
  deployment: string;
  feed: Feed;
  untaken: ReturnType<typeof boundUntaken>;
  /** The last entry when the stream began. */
  head: number;
  /** Rejects when the deployment is no longer visible. */
  find: () => Promise<unknown>;
}

/** The last entry that was sent or skipped. */
type Position = { seq: number };

async function serve(served: Served, call: StreamCall, position: Position): Promise<void> {
  const lost = new AbortController();
  const signal = AbortSignal.any([call.signal, lost.signal]);
  const stream = openEventStream(call.begin(), signal, served.clock);
  const leave = call.token === undefined ? undefined : followPushes(served, stream);
  const watch = startPollLoop({
    name: 'access of a stream',
    intervalMs: call.token === undefined ? HEARTBEAT_TICKS * SECOND : SECOND,
    runOnce:
      call.token === undefined
        ? async () => stream.heartbeat(position.seq)
        : checkAccess(served, call.token, () => stream.heartbeat(position.seq), lost),
    clock: served.clock,
    logger: served.logger,
    signal,
  });
  const reason = await streamExecutions(served, position, stream, signal, call.token === undefined).catch(
    (error: unknown) => (signal.aborted ? undefined : asServiceError(error).code),
  );
  leave?.();
  await watch.stop();
  const code = reason ?? (lost.signal.reason as ServiceError | undefined)?.code;
  if (code !== undefined && !call.signal.aborted) stream.last('end', { code });
  stream.end();
}

const followPushes = ({ pushes, deployment }: Served, stream: EventStream): (() => void) =>
  pushes.follow(deployment, (push) => stream.hint('push', push));

const SECOND = 1000;
const VISIBILITY_TICKS = 5;
const HEARTBEAT_TICKS = 15;

/**
 * Ends an open stream when access is lost (within seconds after a revocation), and sends its heartbeats. The key is checked
 * every second, which reads memory only. Who has no key sees in the journal that the deployment is not published any more.
 */
function checkAccess(
  { keys, find }: Served,
  token: string,
  heartbeat: () => void,
  lost: AbortController,
): () => Promise<void> {
  let tick = 0;
  return async () => {
    tick += 1;
    try {
      await keys.verify(token, lost);
      if (tick % VISIBILITY_TICKS === 0) await find();
      if (tick % HEARTBEAT_TICKS === 0) heartbeat();
    } catch (error) {
      lost.abort(asServiceError(error));
    }
  };
}

/** Streams of this process for which entries are read that their feed no longer keeps: a page of up to 4 MiB each. */
const BEHIND_AT_ONCE = 16;
const behind = createSemaphore(BEHIND_AT_ONCE);
/** Bytes of pages and of what feeds keep that clients have not taken yet, in this process. */
const UNTAKEN_BYTES = 64 * 1024 * 1024;

/**
 * Sends every execution after the position, in order and without a gap: what the feed keeps, which is the same bytes for
 * all, and before it pages of the journal at the client's own speed. Ends with the signal, or with a code when the
 * deployment has been deleted or, for who reads without a key, unpublished.
 */
async function streamExecutions(
  { deployment, journal, feed, head, untaken }: Served,
  position: Position,
  stream: EventStream,
  signal: AbortSignal,
  isStranger: boolean,
): Promise<'deployment_not_found' | undefined> {
  const endsAt: EndsAt = ({ kind, seq }) =>
    kind === 'deleted' || (isStranger && kind === 'unpublished' && seq > head);
  while (!signal.aborted) {
    const kept = feed.after(position.seq, endsAt);
    if (kept === undefined) {
      await feed.growth(signal);
      continue;
    }
    const readPage = async () =>
      chunkOfPage((await journal.after(deployment, position.seq, signal)).entries, endsAt);
    const chunk = kept === 'before' ? await behind.run(signal, readPage) : kept;
    if (chunk === undefined) return undefined;
    await untaken.hold(chunk, stream.cut, () => stream.send(chunk.bytes));
    position.seq = chunk.seq;
    if (chunk.isEnd) return 'deployment_not_found';
  }
  return undefined;
}

type EventStream = ReturnType<typeof openEventStream>;

/** Server-sent events to one client (HTML Living Standard §9.2). Nothing is buffered here beyond the socket. */
function openEventStream(response: ServerResponse, signal: AbortSignal, clock: Clock) {
  /** Nothing else may come between the pieces of a chunk. */
  let isSending = false;
  /** Sends what a client may miss: nothing more is queued for one that does not read. */
  const write = (text: string) => void (isSending || response.writableNeedDrain || response.write(text));
  const sendPiece = async (piece: Buffer) => {
    if (response.write(piece)) return;
    await withinTime(clock, TAKEN_WITHIN_MS, signal, (either) =>
      once(response, 'drain', { signal: either }),
    ).catch((error: unknown) => {
      response.destroy();
      throw error;
    });
  };
  return {
    /**
     * Writes piece by piece, so that it can be seen whether the client takes any of it. Resolves when the socket accepts more.
     * Rejects when the signal aborts first, or the client does not read: it may go on from where it was.
     */
    send: async (bytes: Buffer) => {
      isSending = true;
      try {
        for (let at = 0; at < bytes.length; at += PIECE_BYTES)
          await sendPiece(bytes.subarray(at, at + PIECE_BYTES));
      } finally {
        isSending = false;
      }
    },
    /** The client may go on from where it was. */
    cut: () => void response.destroy(),
    heartbeat: (id: number) => write(heartbeat(id)),
    hint: (event: string, data: unknown) => write(eventText(event, data)),
    last: (event: string, data: unknown) => void response.write(eventText(event, data)),
    end: () => response.end(),
  };
}

const eventText = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
