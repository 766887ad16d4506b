import {
  asServiceError,
  type DeploymentRecord,
  type liveContract,
  type RequestOf,
  runtimeContract,
  type ServiceError,
} from '@orrery/contracts';
import type { Clock, Logger } from '@orrery/service-kit';
import type { KeyVerifier } from '../accounts/key-verifier.js';
import type { StreamCall, StreamHandler } from '../http/request/stream-route.js';
import type { CallOperation } from '../operations/operation.js';
import { openEventStream } from './event-stream.js';
import type { HeadWatch } from './head-watch.js';
import type { JournalClient } from './journal-client.js';
import type { PushWatch } from './push-watch.js';
import { streamExecutions } from './stream-executions.js';
import { watchAccess } from './watch-access.js';
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
