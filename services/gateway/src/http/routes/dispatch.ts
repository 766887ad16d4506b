import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { type Bus, type CallOptions, isUnknown } from '@orrery/bus';
import {
  ERRORS,
  parseJson,
  parseRequest,
  prefersAsync,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import { createTracer, isTraced } from '@orrery/service-kit';
import type { CallOperation, GatewayCall, OperationReply, RoutedRpc } from '../../core/requests/operation.js';

/** A handler of an operation that the gateway answers itself. */
type LocalHandler = (request: never, call: GatewayCall) => Promise<OperationReply>;

/** Handlers of the gateway's own contracts, by the name of the RPC. */
export type LocalHandlers = Readonly<Record<string, LocalHandler>>;

export interface DispatchOptions {
  readonly onError: (error: unknown) => void;
  /** Milliseconds that an execution by a model may take beyond the deadline of the call. */
  readonly longerMs: number;
}

/** Answers an operation by the gateway's own handler where there is one, else over the bus, whose errors are noted. */
export function createDispatch(
  bus: Pick<Bus, 'call' | 'callForText'>,
  local: LocalHandlers,
  { onError, longerMs }: DispatchOptions,
): CallOperation {
  const dispatch: CallOperation = (rpc, request, call) => {
    const own = local[rpc.name];
    if (own !== undefined) return answerHere(own, rpc, request, call);
    return callOverBus(bus, rpc, request, call, longerMs).catch((error: unknown) => {
      onError(error);
      throw error;
    });
  };
  if (!isTraced()) return dispatch;
  return (rpc, request, call) => inRequestSpan(rpc, call, () => dispatch(rpc, request, call));
}

/** Answers as the span under which everything that a request causes is found. A client's own trace is not taken up. */
export function inRequestSpan<Reply>(
  { name, http: { method, path } }: Pick<RoutedRpc, 'name' | 'http'>,
  { requestId }: Pick<GatewayCall, 'requestId'>,
  answer: () => Promise<Reply>,
): Promise<Reply> {
  const attributes = {
    'http.request.method': method,
    'http.route': path,
    'orrery.operation': name,
    'orrery.request_id': requestId,
  };
  const options = { kind: SpanKind.SERVER, attributes, root: true };
  return createTracer('gateway').startActiveSpan(`${method} ${path}`, options, async (span) => {
    try {
      return await answer();
    } catch (error) {
      const { code } = toCallError(error);
      span.setAttribute('error.type', code);
      if (ERRORS[code].status >= 500) span.setStatus({ code: SpanStatusCode.ERROR, message: code });
      throw error;
    } finally {
      span.end();
    }
  });
}

async function answerHere(
  own: LocalHandler,
  rpc: RoutedRpc,
  request: unknown,
  call: GatewayCall,
): Promise<OperationReply> {
  try {
    return await own(parseRequest(rpc, request) as never, call);
  } catch (error) {
    throw toCallError(error);
  }
}

/** Every operation of the contract has a reply of this shape; the serving side has checked it. */
function callOverBus(
  bus: Pick<Bus, 'call' | 'callForText'>,
  rpc: RoutedRpc,
  request: unknown,
  { caller, requestId, deadline, signal, onRun, passesOn }: GatewayCall,
  longerMs: number,
): Promise<OperationReply> {
  const call = { caller, requestId, deadline, signal };
  const ask = passesOn === true ? askForText(bus) : (bus.call as CallForReply);
  if (rpc.name === 'deployments.replay' || rpc.name === 'deployments.try')
    return ask(rpc, request, { ...call, deadline: deadline + longerMs });
  if (rpc.name !== 'deployments.execute') return ask(rpc, request, call);
  const execution = request as Execution;
  const executing = { callId: crypto.randomUUID(), ...call };
  const later = { ...executing, deadline: deadline + longerMs };
  // A dry run has no run that could be asked for later.
  const first = isDry(execution) ? later : { leavesRun: true, ...executing };
  return outcomeOf(ask(rpc, request, first), {
    onRun,
    runIn: (answer) => runAwaited(answer, execution),
    ask: () => answerOfCall(bus, execution, later),
  });
}

type CallForReply = (rpc: RoutedRpc, request: unknown, options: CallOptions) => Promise<OperationReply>;

/** A reply whose members the gateway has to know is parsed after all. */
const askForText =
  (bus: Pick<Bus, 'callForText'>): CallForReply =>
  async (rpc, request, options) => {
    const { text } = await bus.callForText(rpc, request, options);
    return mayPass(rpc, text) ? { data: undefined, text } : (parseJson(text) as unknown as OperationReply);
  };

type Execution = {
  readonly params: { worldAddress: string; address: string };
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: { readonly prefer?: string };
};

/** As the contract reads the flag. */
const isDry = ({ query: { dryRun } }: Execution): boolean => dryRun === true || dryRun === 'true';

/** The run that an execution became, where its client waits for it. */
function runAwaited({ data, text }: OperationReply, { headers }: Execution): string | undefined {
  if (text !== undefined) return undefined;
  const { executionId } = data as { executionId?: unknown };
  return typeof executionId === 'string' && !prefersAsync(headers.prefer) ? executionId : undefined;
}

/** What the run answers that a call became; undefined for one that became none. */
async function answerOfCall(
  bus: Pick<Bus, 'call'>,
  { params }: Execution,
  call: CallOptions & { callId: string },
): Promise<OperationReply | undefined> {
  const rpc = runtimeContract.rpcs['executions.ofCall'];
  const { data } = await bus.call(rpc, { params, callId: call.callId }, call);
  return data === null ? undefined : { data };
}

/** How the outcome of an execution is found that may become a run. */
interface RunOf<Reply> {
  onRun: (() => void) | undefined;
  /** The run that the first answer only names, where its client waits for it. */
  runIn: (answer: Reply) => string | undefined;
  /** Asks for the outcome of what was begun; asking changes nothing, or takes effect once. */
  ask: () => Promise<Reply | undefined>;
}

/**
 * The answer of an execution: of its call, or of the run that it became, also where the call's process is lost or its
 * deadline passes. @throws what the execution failed with
 */
export function outcomeOf<Reply>(first: Promise<Reply>, { onRun, runIn, ask }: RunOf<Reply>): Promise<Reply> {
  return first.then(
    async (answer) => {
      const executionId = runIn(answer);
      if (executionId === undefined) return answer;
      onRun?.();
      return (await askedOutcome(ask, (error) => goesOn(error, executionId))) ?? answer;
    },
    async (error: unknown) => {
      if (!isUnknown(error) && !isStillRunning(error)) throw error;
      const answer = await askedOutcome(ask, () => error);
      if (answer === undefined) throw error;
      return answer;
    },
  );
}

/** What is answered for a run whose outcome nobody tells: it is stored, so it goes on. */
function goesOn(error: unknown, executionId: string): ServiceError {
  const { code, message } = toCallError(error);
  const isLate = code === 'deadline_exceeded';
  return new ServiceError(isLate ? code : 'unavailable', message, {
    facts: { executionId, ...(isLate ? {} : { outcome: 'unknown' }) },
    cause: error,
  });
}

/** Processes that may be lost while one run is waited for. */
const MAX_LOST = 3;

/** Asks again where a process is lost, since another one answers. @throws what `otherwise` says where nobody can tell */
async function askedOutcome<Reply>(
  ask: () => Promise<Reply>,
  otherwise: (error: unknown) => unknown,
): Promise<Reply> {
  for (let lost = 0; ; lost += 1) {
    try {
      return await ask();
    } catch (error) {
      if (isUnknown(error) && lost < MAX_LOST) continue;
      throw saysNothing(error) ? otherwise(error) : error;
    }
  }
}

/** The call's deadline passed while the run that it became goes on. */
const isStillRunning = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.code === 'deadline_exceeded' &&
  error.facts['executionId'] !== undefined;

/** Whether no outcome was told: an execution that failed names its entry. */
const saysNothing = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.facts['historyId'] === undefined &&
  (error.code === 'deadline_exceeded' || ERRORS[error.code].status === 503);

/** A committed execution: it has neither a `Location` nor an `ETag`, and nobody waits for its run. */
const COMMITTED = '{"data":{"kind":"committed",';

/**
 * Whether a reply that came over the bus can be passed on as it is: the gateway needs to know nothing of it but the `ETag` at
 * its end. The serving end writes the members of a reply in the order of its schema.
 */
export const mayPass = ({ http }: RoutedRpc, text: string): boolean =>
  text.startsWith(COMMITTED) || (http.location === undefined && http.accepted === undefined);

/** A member of the reply itself, since the last bracket closes it; a quote within a text is written with a backslash. */
const ETAG = /,"etag":("(?:[^"\\]|\\.)*")\}$/;

/** The success envelope with the members of a reply's text, but for its `ETag`. */
export function envelopeOf(text: string): { readonly body: string; readonly etag: string | undefined } {
  const members = text.slice(1);
  const found = text.endsWith('"}') ? ETAG.exec(members) : null;
  if (found?.[1] === undefined) return { body: `{"success":true,${members}`, etag: undefined };
  return { body: `{"success":true,${members.slice(0, found.index)}}`, etag: String(parseJson(found[1])) };
}
