import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Bus } from '@orrery/bus';
import {
  asServiceError,
  type DeploymentRecord,
  type JournalFact,
  journalHeads,
  type LiveExecution,
  type liveContract,
  parseRequest,
  pushResult,
  type RequestOf,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { CallOperation, GatewayCall, RoutedRpc } from '../core/requests/operation.js';
import { requestSchema } from '../core/requests/request-schema.js';
import { bearerToken, type KeyVerifier } from '../http/access/access.js';
import { callOf, type RouteContext, readRequest } from '../http/routes/operation-route.js';
import { createHeadWatch, createJournalClient, createPushWatch, createWhileUsed } from './watches.js';

export interface StreamCall extends GatewayCall {
  /** To be verified again and again while the stream is open. */
  token: string;
  /** Writes the head and returns the open response; errors cannot be answered with a status afterwards. */
  begin(): ServerResponse;
}

/** Serves a stream until it ends by itself or the call's signal aborts. */
export type StreamHandler = (request: unknown, call: StreamCall) => Promise<void>;

export interface StreamRouteContext extends RouteContext {
  stream: StreamHandler;
  /** Open streams of this process; beyond it new ones are refused. */
  maxStreams: number;
}

/** Makes a route that answers with server-sent events. Open streams end when the application closes. */
export function addStreamRoute(app: FastifyInstance, rpc: RoutedRpc, context: StreamRouteContext): void {
  const schema = requestSchema(rpc);
  const closing = new AbortController();
  let open = 0;
  app.addHook('preClose', async () => closing.abort());
  app.get(rpc.http.path, { onRequest: context.guards(rpc), exposeHeadRoute: false }, async (http, reply) => {
    const request = readRequest(http, schema);
    // The gateway serves the stream itself, so it checks the request; its parts go to the services unparsed.
    parseRequest(rpc, request);
    if (open >= context.maxStreams) throw new ServiceError('overloaded', 'Too many streams are open.');
    const call = callOf(http, reply, context);
    open += 1;
    try {
      await context.stream(request, {
        ...call,
        signal: AbortSignal.any([call.signal, closing.signal]),
        token: bearerToken(http.raw),
        begin: () => beginStream(reply, context.admission),
      });
    } finally {
      open -= 1;
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
  keys: KeyVerifier;
  clock: Clock;
  logger: Logger;
  deadlineMs: number;
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
export const streamDeployment =
  (context: StreamContext, shared: Shared): StreamHandler =>
  async (raw, call) => {
    const request = raw as StreamRequest;
    const { address } = await visibleDeployment(context, request, call);
    await shared.whileListening(async () => {
      const { head } = await shared.journal.after(address, 0, call.signal);
      const lastEventId = request.headers['last-event-id'];
      const seq = lastEventId === undefined ? head : Math.min(Number(lastEventId), head);
      const checkVisibility = () => visibleDeployment(context, request, call);
      await serve({ ...context, ...shared, deployment: address, checkVisibility }, call, { seq });
    });
  };
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
  { call: callOperation, clock, deadlineMs }: StreamContext,
  { params }: StreamRequest,
  call: StreamCall,
): Promise<DeploymentRecord> {
  const request = { params, query: {}, headers: {}, body: {} };
  const deadline = clock.monotonic() + deadlineMs;
  const reply = await callOperation(runtimeContract.rpcs['deployments.get'], request, { ...call, deadline });
  return reply.data as DeploymentRecord;
}

interface Served extends StreamContext, Shared {
  deployment: string;
  /** Rejects when the deployment is no longer visible. */
  checkVisibility: () => Promise<unknown>;
}

/** The last entry that was sent or skipped. */
type Position = { seq: number };

async function serve(served: Served, call: StreamCall, position: Position): Promise<void> {
  const lost = new AbortController();
  const signal = AbortSignal.any([call.signal, lost.signal]);
  const stream = openEventStream(call.begin(), signal);
  const leave = served.pushes.follow(served.deployment, (push) => stream.hint('push', push));
  const { clock, logger } = served;
  const runOnce = checkAccess(served, call.token, () => stream.heartbeat(position.seq), lost);
  const watch = startPollLoop({
    name: 'access of a stream',
    intervalMs: SECOND,
    runOnce,
    clock,
    logger,
    signal,
  });
  const reason = await streamExecutions(served, position, stream, signal).catch((error: unknown) =>
    signal.aborted ? undefined : asServiceError(error).code,
  );
  leave();
  await watch.stop();
  const code = reason ?? (lost.signal.reason as ServiceError | undefined)?.code;
  if (code !== undefined && !call.signal.aborted)
    void stream.send('end', undefined, { code }).catch(() => undefined);
  stream.end();
}

const SECOND = 1000;
const VISIBILITY_TICKS = 5;
const HEARTBEAT_TICKS = 15;

/**
 * Ends an open stream when access is lost (within seconds after a revocation), and sends its heartbeats. The key is checked
 * every second, which reads memory only.
 */
function checkAccess(
  { keys, checkVisibility }: Served,
  token: string,
  heartbeat: () => void,
  lost: AbortController,
): () => Promise<void> {
  let tick = 0;
  return async () => {
    tick += 1;
    try {
      await keys.verify(token);
      if (tick % VISIBILITY_TICKS === 0) await checkVisibility();
      if (tick % HEARTBEAT_TICKS === 0) heartbeat();
    } catch (error) {
      lost.abort(asServiceError(error));
    }
  };
}

/**
 * Sends every execution after the position, in order and without a gap, page by page at the client's own speed; then waits
 * for more. Ends with the signal, or with a code when the deployment has been deleted.
 */
async function streamExecutions(
  { deployment, journal, heads }: Served,
  position: Position,
  stream: EventStream,
  signal: AbortSignal,
): Promise<'deployment_not_found' | undefined> {
  while (!signal.aborted) {
    const { entries } = await journal.after(deployment, position.seq, signal);
    for (const entry of entries) {
      if (entry.kind === 'execution') await stream.send('execution', entry.seq, liveExecutionOf(entry));
      position.seq = entry.seq;
      if (entry.kind === 'deleted') return 'deployment_not_found';
    }
    const last = entries.at(-1);
    // Who follows the whole journal sees by the id that there is more than executions, and reads it.
    if (last !== undefined && last.kind !== 'execution') stream.heartbeat(last.seq);
    if (entries.length === 0) await heads.beyond(deployment, position.seq, signal);
  }
  return undefined;
}

/** The members that readers of the history see; the others are for services. */
function liveExecutionOf(fact: JournalFact): LiveExecution {
  const { worldAddress: _world, inputHash: _input, binding: _binding, ...execution } = fact;
  return execution;
}

type EventStream = ReturnType<typeof openEventStream>;

/** Server-sent events to one client (HTML Living Standard §9.2). Nothing is buffered here beyond the socket. */
function openEventStream(response: ServerResponse, signal: AbortSignal) {
  /** Sends what a client may miss: nothing more is queued for one that does not read. */
  const write = (text: string) => void (response.writableNeedDrain || response.write(text));
  return {
    /** Resolves when the socket accepts more. Rejects when the signal aborts first. */
    send: async (event: string, id: number | undefined, data: unknown) => {
      const head = id === undefined ? '' : `id: ${id}\n`;
      const isTaken = response.write(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      if (!isTaken) await once(response, 'drain', { signal });
    },
    /** Keeps the connection open through proxies and advances the client's last id. */
    heartbeat: (id: number) => write(`: still here\nid: ${id}\n\n`),
    hint: (event: string, data: unknown) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    end: () => response.end(),
  };
}
