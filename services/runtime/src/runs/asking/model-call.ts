import { cutText, type JsonObject, ServiceError } from '@orrery/contracts';
import type { Clock, Logger } from '@orrery/service-kit';
import { estimateTokens, type PreparedRequest } from '../../core/prompting/chat-request.js';
import {
  type DeciderRequest,
  type Evidence,
  evidenceOfExchange,
  type Model,
  type ModelCallRecord,
  type ModelUsage,
  priced,
} from '../../core/prompting/model.js';
import type { CallSlots } from './call-limits.js';
import { type ChatAnswer, type ChatClient, ChatFailed, faultAfter } from './chat-client.js';
import type { Circuits, Passed } from './circuits.js';

const MAX_REASON = 4000;

/** Collects what one decision sends and receives, and what it costs. */
export class Exchange {
  readonly #startedAt: number;
  readonly #calls: ModelCallRecord[] = [];
  readonly #reasons: string[] = [];
  readonly #tokens = { inputTokens: 0, outputTokens: 0 };
  #isEstimated = false;
  #request: JsonObject | undefined;
  #response: string | null = null;
  #attestation: JsonObject | null = null;

  constructor(
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly model: Model,
  ) {
    this.#startedAt = clock.monotonic();
  }

  /** Whether anything was sent. */
  get hasBegun(): boolean {
    return this.#request !== undefined;
  }

  sent(request: JsonObject): void {
    this.#request = request;
    this.#response = null;
    this.#attestation = null;
  }

  answered({ message, attestation }: ChatAnswer): void {
    this.#response = message.content;
    this.#attestation = attestation;
  }

  /** `usage`: what the call is charged; `isEstimated`: the server has not counted it. */
  called(call: ModelCallRecord, usage: ModelUsage, isEstimated: boolean): void {
    this.#calls.push(call);
    this.#tokens.inputTokens += usage.inputTokens;
    this.#tokens.outputTokens += usage.outputTokens;
    this.#isEstimated ||= isEstimated;
  }

  /** The last call's answer is no proposal. */
  refused(code: string, reason: string): void {
    const last = this.#calls.pop();
    if (last !== undefined) this.#calls.push({ ...last, error: code });
    this.#reasons.push(cutText(reason, MAX_REASON));
  }

  /** `undefined` as long as nothing was sent. */
  evidence(): Evidence | undefined {
    const request = this.#request;
    if (request === undefined) return undefined;
    const exchange = {
      model: this.model.record.modelId,
      temperature: numberOrNull(request['temperature']),
      seed: numberOrNull(request['seed']),
      request,
      response: this.#response,
      reasons: this.#reasons,
      attempts: this.#calls,
      usage: { ...priced(this.model, this.#tokens), isEstimated: this.#isEstimated },
      latencyMs: this.clock.monotonic() - this.#startedAt,
    };
    return evidenceOfExchange(exchange, this.#attestation);
  }
}

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

export interface CallDependencies {
  readonly chat: ChatClient;
  readonly slots: CallSlots;
  readonly circuits: Circuits;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ModelCall {
  readonly request: Pick<DeciderRequest, 'model' | 'deployment' | 'accountId' | 'isHolding' | 'budget'>;
  readonly exchange: Exchange;
  /** Aborts with the fault `overdue` at the deadline. */
  readonly signal: AbortSignal;
}

/**
 * Sends one request when its turn has come, unless a circuit is open. The request is prepared then, so that
 * those that wait hold no prompt. What it costs at most is reserved before, what it has cost is settled after it.
 * @throws ChatFailed, `unavailable`, `too_many_waiting`, what `prepare` and the budget throw, or the signal's reason
 */
export async function callModel(
  dependencies: CallDependencies,
  call: ModelCall,
  prepare: () => PreparedRequest,
): Promise<ChatAnswer> {
  const { model, accountId, isHolding, deployment } = call.request;
  const isRepeated = call.exchange.hasBegun;
  const asking = { model, deployment: deployment.address, accountId, isHolding, isRepeated };
  const send = () => throughCircuit(dependencies, call, prepare());
  return dependencies.slots.run(asking, call.signal, send);
}

const SERVER_FAILED: ReadonlySet<string> = new Set([
  ...['unreachable', 'broken_answer', 'server_error', 'timeout'],
]);

async function throughCircuit(
  dependencies: CallDependencies,
  call: ModelCall,
  prepared: PreparedRequest,
): Promise<ChatAnswer> {
  const { model, deployment, accountId } = call.request;
  const { baseUrl, record } = model;
  const end = dependencies.circuits.enter({ baseUrl, deployment: deployment.address, accountId });
  if (typeof end !== 'function') throw circuitOpen(record.modelId, end.openForMs);
  let passed: Passed = 'cancelled';
  try {
    const answer = await paidRequest(dependencies, call, prepared);
    passed = 'answered';
    return answer;
  } catch (error) {
    if (error instanceof ChatFailed && error.fault !== 'overdue')
      passed = SERVER_FAILED.has(error.fault) ? 'failed' : 'answered';
    throw error;
  } finally {
    end(passed);
  }
}

const circuitOpen = (modelId: string, openForMs: number): ServiceError =>
  new ServiceError(
    'unavailable',
    `The server of the AI model "${modelId}" has failed several times in a row and is left alone for a while. Try again later.`,
    { facts: { modelId, reason: 'circuit_open', retryAfterSeconds: Math.ceil(openForMs / 1000) } },
  );

async function paidRequest(
  dependencies: CallDependencies,
  call: ModelCall,
  prepared: PreparedRequest,
): Promise<ChatAnswer> {
  const { request, exchange, signal } = call;
  const { model } = request;
  const { clock, logger } = dependencies;
  const reservation = await request.budget.reserve(priced(model, prepared), signal);
  const startedAt = clock.monotonic();
  const outcome = await timedRequest(dependencies, call, prepared.body);
  const { isEstimated, ...tokens } = tokensSpent(prepared, outcome);
  const spent = priced(model, tokens);
  if (outcome.wasSent)
    exchange.called(callRecordOf(prepared, outcome, clock.monotonic() - startedAt), spent, isEstimated);
  await reservation.settle(spent);
  if ('answer' in outcome) {
    exchange.answered(outcome.answer);
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
  { chat, clock }: CallDependencies,
  { request: { model }, exchange, signal }: ModelCall,
  body: JsonObject,
): Promise<Outcome> {
  let wasSent = false;
  const onSent = () => {
    wasSent = true;
    exchange.sent(body);
  };
  using timed = faultAfter('timeout', model.timeoutMs, clock, signal);
  try {
    return { answer: await chat.complete(model, body, timed.signal, onSent), wasSent };
  } catch (error) {
    return { error, wasSent };
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

function callRecordOf(
  { output: form }: PreparedRequest,
  outcome: Outcome,
  latencyMs: number,
): ModelCallRecord {
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
