import {
  asServiceError,
  type DeploymentRecord,
  type JournalFact,
  type LiveExecution,
  type liveContract,
  type RequestOf,
  runtimeContract,
  type ServiceError,
} from '@orrery/contracts';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import type { CallOperation } from '../core/requests/operation.js';
import type { KeyVerifier } from '../http/access/key-verifier.js';
import { type EventStream, openEventStream } from './event-stream.js';
import type { StreamCall, StreamHandler } from './stream-route.js';
import type { HeadWatch, JournalClient, PushWatch } from './watches.js';
import type { WhileUsed } from './while-used.js';

type StreamRequest = RequestOf<(typeof liveContract)['rpcs']['deployments.stream']>;

export interface StreamContext {
  call: CallOperation;
  keys: KeyVerifier;
  journal: JournalClient;
  heads: HeadWatch;
  pushes: PushWatch;
  /** Subscribes to journal heads during the work. */
  whileListening: WhileUsed;
  clock: Clock;
  logger: Logger;
  deadlineMs: number;
}

/**
 * The live stream of a deployment: executions as they commit, after `Last-Event-ID` or from now on. It ends with an
 * event `end` that names the reason when access is lost or the deployment is deleted. Clients that are cut off otherwise
 * reconnect and miss nothing.
 */
export const streamDeployment =
  (context: StreamContext): StreamHandler =>
  async (raw, call) => {
    const request = raw as StreamRequest;
    const { address } = await visibleDeployment(context, request, call);
    await context.whileListening(async () => {
      const { head } = await context.journal.after(address, 0, call.signal);
      const lastEventId = request.headers['last-event-id'];
      const from = lastEventId === undefined ? head : Math.min(Number(lastEventId), head);
      await serve(context, request, call, address, from);
    });
  };

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

async function serve(
  context: StreamContext,
  request: StreamRequest,
  call: StreamCall,
  deployment: string,
  from: number,
): Promise<void> {
  const lost = new AbortController();
  const signal = AbortSignal.any([call.signal, lost.signal]);
  const stream = openEventStream(call.begin(), signal);
  const leave = context.pushes.follow(deployment, (push) => stream.hint('push', push));
  let seq = from;
  const watch = watchAccess({
    ...context,
    signal,
    checkKey: () => context.keys.verify(call.token),
    checkVisibility: () => visibleDeployment(context, request, call),
    heartbeat: () => stream.heartbeat(seq),
    onLost: (error) => lost.abort(error),
  });
  const onProgress = (reached: number) => {
    seq = reached;
  };
  const reason = await streamExecutions(from, { ...context, deployment, stream, signal, onProgress })
    .then((ended) => (ended === 'deleted' ? 'deployment_not_found' : undefined))
    .catch((error: unknown) => (signal.aborted ? undefined : asServiceError(error).code));
  leave();
  await watch.stop();
  const code = reason ?? (lost.signal.reason as ServiceError | undefined)?.code;
  if (code !== undefined && !call.signal.aborted)
    void stream.send('end', undefined, { code }).catch(() => undefined);
  stream.end();
}

export interface AccessWatch {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Rejects when the key is no longer valid. Called every second; reads memory only. */
  checkKey: () => Promise<unknown>;
  /** Rejects when the deployment is no longer visible. Called every five seconds. */
  checkVisibility: () => Promise<unknown>;
  heartbeat: () => void;
  onLost: (error: ServiceError) => void;
}

const SECOND = 1000;
const VISIBILITY_TICKS = 5;
const HEARTBEAT_TICKS = 15;

/** Ends an open stream when access is lost (within seconds after a revocation), and sends its heartbeats. */
export function watchAccess(watch: AccessWatch): PollLoop {
  let tick = 0;
  const runOnce = async () => {
    tick += 1;
    try {
      await watch.checkKey();
      if (tick % VISIBILITY_TICKS === 0) await watch.checkVisibility();
      if (tick % HEARTBEAT_TICKS === 0) watch.heartbeat();
    } catch (error) {
      watch.onLost(asServiceError(error));
    }
    return 'idle' as const;
  };
  const { clock, logger, signal } = watch;
  return startPollLoop({ name: 'access of a stream', intervalMs: SECOND, runOnce, clock, logger, signal });
}

export interface ExecutionStream {
  deployment: string;
  journal: JournalClient;
  heads: HeadWatch;
  stream: EventStream;
  signal: AbortSignal;
  /** Called with the seq of each entry that was sent or skipped. */
  onProgress: (seq: number) => void;
}

/**
 * Sends every execution after `from`, in order and without a gap, page by page at the client's own speed; then waits
 * for more. Ends with the signal, or when the deployment has been deleted.
 */
export async function streamExecutions(
  from: number,
  { deployment, journal, heads, stream, signal, onProgress }: ExecutionStream,
): Promise<'deleted' | 'aborted'> {
  for (let seq = from; !signal.aborted; ) {
    const { entries } = await journal.after(deployment, seq, signal);
    for (const entry of entries) {
      if (entry.kind === 'execution') await stream.send('execution', entry.seq, liveExecutionOf(entry));
      seq = entry.seq;
      onProgress(seq);
      if (entry.kind === 'deleted') return 'deleted';
    }
    const last = entries.at(-1);
    // Who follows the whole journal sees by the id that there is more than executions, and reads it.
    if (last !== undefined && last.kind !== 'execution') stream.heartbeat(last.seq);
    if (entries.length === 0) await heads.beyond(deployment, seq, signal);
  }
  return 'aborted';
}

/** The members that readers of the history see; the others are for services. */
function liveExecutionOf(fact: JournalFact): LiveExecution {
  const { worldAddress: _world, inputHash: _input, binding: _binding, ...execution } = fact;
  return execution;
}
