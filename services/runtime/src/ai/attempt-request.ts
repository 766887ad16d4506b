import { type JsonObject, ServiceError } from '@orrery/contracts';
import type { Clock, Logger } from '@orrery/service-kit';
import type { DeciderRequest, ModelUsage } from '../models/decider.js';
import type { ModelAttempt, OutputForm } from '../models/evidence.js';
import type { CallSlots } from './call-slots.js';
import { type ChatAnswer, type ChatClient, ChatFailed } from './chat-client.js';
import type { CircuitBreaker } from './circuit-breaker.js';
import type { ExchangeRecord } from './exchange-record.js';
import type { ModelSignals } from './signals.js';
import { estimateTokens } from './token-estimate.js';
import { priced } from './token-price.js';

export interface AttemptDependencies {
  readonly chat: ChatClient;
  readonly slots: CallSlots;
  readonly breakerOf: (baseUrl: string) => CircuitBreaker;
  readonly signals: ModelSignals;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A request to a model, in the form that its server takes. */
export interface PreparedRequest {
  readonly body: JsonObject;
  readonly output: OutputForm;
  /** Estimated, of everything that is sent. */
  readonly inputTokens: number;
  /** The limit of the answer. */
  readonly outputTokens: number;
}

export interface Attempt {
  readonly request: Pick<DeciderRequest, 'model' | 'deployment' | 'accountId' | 'isHolding' | 'budget'>;
  readonly exchange: ExchangeRecord;
  readonly signal: AbortSignal;
  /** Aborts at the deadline. */
  readonly overdue: AbortSignal;
}

/**
 * Sends one request when its turn has come, unless the server's circuit is open. The request is prepared then, so that
 * those that wait hold no prompt. What it costs at most is reserved before, what it has cost is settled after it.
 * @throws ChatFailed, `unavailable`, `too_many_waiting`, what `prepare` and the budget throw, or the signal's reason
 */
export async function attemptRequest(
  dependencies: AttemptDependencies,
  attempt: Attempt,
  prepare: () => PreparedRequest,
): Promise<ChatAnswer> {
  const { request, exchange, signal, overdue } = attempt;
  const { model, accountId, isHolding } = request;
  const either = AbortSignal.any([signal, overdue]);
  const deployment = request.deployment.address;
  const asking = { model, deployment, accountId, isHolding, isRepeated: exchange.hasBegun };
  const send = () => throughCircuit(dependencies, attempt, prepare());
  try {
    return await dependencies.slots.run(asking, either, send);
  } catch (error) {
    signal.throwIfAborted();
    throw overdue.aborted && error === overdue.reason ? new ChatFailed('overdue') : error;
  }
}

/** Failures that say that the server is away or broken. */
const SERVER_FAILED: ReadonlySet<string> = new Set([
  ...['unreachable', 'broken_answer', 'server_error', 'timeout'],
]);

async function throughCircuit(
  dependencies: AttemptDependencies,
  attempt: Attempt,
  prepared: PreparedRequest,
): Promise<ChatAnswer> {
  const { baseUrl, record } = attempt.request.model;
  const passage = dependencies.breakerOf(baseUrl).enter();
  if ('openForMs' in passage) throw circuitOpen(record.modelId, passage.openForMs);
  try {
    const answer = await paidRequest(dependencies, attempt, prepared);
    passage.answered();
    return answer;
  } catch (error) {
    if (!(error instanceof ChatFailed) || error.fault === 'overdue') passage.cancelled();
    else if (SERVER_FAILED.has(error.fault)) passage.failed();
    else passage.answered();
    throw error;
  }
}

const circuitOpen = (modelId: string, openForMs: number): ServiceError =>
  new ServiceError(
    'unavailable',
    `The server of the AI model "${modelId}" has failed several times in a row and is left alone for a while. Try again later.`,
    { facts: { modelId, reason: 'circuit_open', retryAfterSeconds: Math.ceil(openForMs / 1000) } },
  );

async function paidRequest(
  dependencies: AttemptDependencies,
  attempt: Attempt,
  prepared: PreparedRequest,
): Promise<ChatAnswer> {
  const { request, exchange, signal, overdue } = attempt;
  const { model } = request;
  const { clock, logger } = dependencies;
  const either = AbortSignal.any([signal, overdue]);
  const reservation = await request.budget.reserve(priced(model, prepared), either);
  const startedAt = clock.monotonic();
  const outcome = await timedRequest(dependencies, attempt, prepared.body);
  const { isEstimated, ...tokens } = tokensSpent(prepared, outcome);
  const spent = priced(model, tokens);
  if (outcome.wasSent)
    exchange.attempted(attemptOf(prepared, outcome, clock.monotonic() - startedAt), spent, isEstimated);
  await reservation.settle(spent);
  if ('answer' in outcome) {
    exchange.answered(outcome.answer.message.content, outcome.answer.attestation);
    return outcome.answer;
  }
  const { fault, facts } = faultOf(outcome.error);
  logger.warn({ model: model.record.modelId, fault, ...facts }, 'a request to an AI model has no answer');
  throw outcome.error;
}

type Outcome = ({ readonly answer: ChatAnswer } | { readonly error: unknown }) & {
  readonly wasSent: boolean;
};

/** Never rejects: what a request has cost is recorded whatever becomes of it. */
async function timedRequest(
  { chat, signals, clock }: AttemptDependencies,
  { request: { model }, exchange, signal, overdue }: Attempt,
  body: JsonObject,
): Promise<Outcome> {
  const late = new AbortController();
  const ended = new AbortController();
  let wasSent = false;
  const onSent = () => {
    wasSent = true;
    exchange.sent(body);
  };
  clock.sleep(model.timeoutMs, ended.signal).then(
    () => late.abort(),
    () => undefined,
  );
  try {
    const limits = { signal, timeout: late.signal, overdue, onSent };
    return { answer: await signals.attempted(model, () => chat.complete(model, body, limits)), wasSent };
  } catch (error) {
    return { error, wasSent };
  } finally {
    ended.abort();
  }
}

const faultOf = (error: unknown): Pick<ChatFailed, 'facts'> & { readonly fault: string } =>
  error instanceof ChatFailed ? error : { fault: 'cancelled', facts: {} };

/** Faults for which servers charge nothing: they did not begin to answer. */
const NOT_CHARGED: ReadonlySet<string> = new Set([
  ...['refused', 'rate_limited', 'server_error', 'unreachable'],
]);

/**
 * The tokens to charge: as the server counted them, otherwise estimated. A request that was not sent costs nothing. One
 * whose answer was not read to its end may have cost the whole output: a budget bounds what models may cost.
 */
function tokensSpent(
  { inputTokens, outputTokens }: PreparedRequest,
  outcome: Outcome,
): Pick<ModelUsage, 'inputTokens' | 'outputTokens'> & { readonly isEstimated: boolean } {
  if ('answer' in outcome) {
    const { usage, message } = outcome.answer;
    if (usage !== null) return { ...usage, isEstimated: false };
    return { inputTokens, outputTokens: estimateTokens(message.content ?? ''), isEstimated: true };
  }
  const isFree = !outcome.wasSent || NOT_CHARGED.has(faultOf(outcome.error).fault);
  return isFree
    ? { inputTokens: 0, outputTokens: 0, isEstimated: false }
    : { inputTokens, outputTokens, isEstimated: true };
}

function attemptOf({ output: form }: PreparedRequest, outcome: Outcome, latencyMs: number): ModelAttempt {
  if ('answer' in outcome) {
    const { message, usage } = outcome.answer;
    const { inputTokens, outputTokens } = usage ?? { inputTokens: null, outputTokens: null };
    const { finishReason } = message;
    return { form, status: 200, finishReason, inputTokens, outputTokens, latencyMs, error: null };
  }
  const { fault, facts } = faultOf(outcome.error);
  const nothing = { finishReason: null, inputTokens: null, outputTokens: null };
  return { form, status: facts.status ?? null, ...nothing, latencyMs, error: fault };
}
