import { type JsonObject, ServiceError } from '@orrery/contracts';
import { type Backoff, backoffDelay, type Clock, type Logger } from '@orrery/service-kit';
import {
  type DeciderRequest,
  type ModelCallRecord,
  type ModelUsage,
  type OutputForm,
  priced,
} from '../../core/models/model.js';
import { estimateTokens } from '../../core/prompting/prompt.js';
import { formAfterRefusal, type RequestForm } from '../../core/prompting/request-form.js';
import type { ExchangeRecord, ModelSignals } from './call-records.js';
import type { CallSlots } from './call-slots.js';
import { type ChatAnswer, type ChatClient, ChatFailed, type ChatFault } from './chat-client.js';
import type { CircuitBreaker, FormKey, FormMemory } from './model-servers.js';

interface CallDependencies {
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

interface ModelCall {
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
async function callModel(
  dependencies: CallDependencies,
  call: ModelCall,
  prepare: () => PreparedRequest,
): Promise<ChatAnswer> {
  const { request, exchange, signal, overdue } = call;
  const { model, accountId, isHolding } = request;
  const either = AbortSignal.any([signal, overdue]);
  const deployment = request.deployment.address;
  const asking = { model, deployment, accountId, isHolding, isRepeated: exchange.hasBegun };
  const send = () => throughCircuit(dependencies, call, prepare());
  try {
    return await dependencies.slots.run(asking, either, send);
  } catch (error) {
    signal.throwIfAborted();
    throw overdue.aborted && error === overdue.reason ? new ChatFailed('overdue') : error;
  }
}

const SERVER_FAILED: ReadonlySet<string> = new Set([
  ...['unreachable', 'broken_answer', 'server_error', 'timeout'],
]);

async function throughCircuit(
  dependencies: CallDependencies,
  call: ModelCall,
  prepared: PreparedRequest,
): Promise<ChatAnswer> {
  const { baseUrl, record } = call.request.model;
  const passage = dependencies.breakerOf(baseUrl).enter();
  if ('openForMs' in passage) throw circuitOpen(record.modelId, passage.openForMs);
  try {
    const answer = await paidRequest(dependencies, call, prepared);
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
  dependencies: CallDependencies,
  call: ModelCall,
  prepared: PreparedRequest,
): Promise<ChatAnswer> {
  const { request, exchange, signal, overdue } = call;
  const { model } = request;
  const { clock, logger } = dependencies;
  const either = AbortSignal.any([signal, overdue]);
  const reservation = await request.budget.reserve(priced(model, prepared), either);
  const startedAt = clock.monotonic();
  const outcome = await timedRequest(dependencies, call, prepared.body);
  const { isEstimated, ...tokens } = tokensSpent(prepared, outcome);
  const spent = priced(model, tokens);
  if (outcome.wasSent)
    exchange.called(callRecordOf(prepared, outcome, clock.monotonic() - startedAt), spent, isEstimated);
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
  { chat, signals, clock }: CallDependencies,
  { request: { model }, exchange, signal, overdue }: ModelCall,
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
    return { answer: await signals.called(model, () => chat.complete(model, body, limits)), wasSent };
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

export interface AskDependencies extends CallDependencies {
  readonly forms: FormMemory;
}

export interface Question extends ModelCall {
  readonly key: FormKey;
  /** The form to begin with. */
  readonly form: RequestForm;
  /** The request in a form. @throws `prompt_too_large` */
  prepare(form: RequestForm): PreparedRequest;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

export interface Asked {
  /** Null for one that was too large to be read. */
  readonly answer: ChatAnswer | null;
  /** The form in which the server took the request. */
  readonly form: RequestForm;
}

const MAX_TRIES = 3;
const PAUSE: Backoff = { baseMs: 500, maxMs: 8000 };

/**
 * Asks a model until its server gives an answer: where it refuses a form of request, in the next lower one; where it
 * fails, up to three times, with pauses that grow and are at least as long as it asks for, and not beyond the deadline.
 * @throws `unavailable`, `deadline_exceeded`, `prompt_too_large`, `too_many_waiting`, and what the budget throws
 */
export async function askModel(dependencies: AskDependencies, question: Question): Promise<Asked> {
  let { form } = question;
  for (let tries = 1; ; ) {
    const failure = await callModel(dependencies, question, () => question.prepare(form)).catch(asFailure);
    const isAnswer = !(failure instanceof ChatFailed);
    if (isAnswer || failure.fault === 'too_large') {
      // One that was refused in all forms says nothing of them.
      if (form !== question.form) dependencies.forms.lowered(question.key, form);
      return { answer: isAnswer ? failure : null, form };
    }
    const other = otherForm(form, failure);
    if (other !== undefined) {
      form = other;
      continue;
    }
    if (tries >= MAX_TRIES || !isPassing(failure)) throw endingOf(failure, question);
    await pause(dependencies, question, failure, tries);
    tries += 1;
  }
}

function asFailure(error: unknown): ChatFailed {
  if (error instanceof ChatFailed) return error;
  throw error;
}

/** Another server error than these says nothing of the form. */
const FORM_REFUSALS: ReadonlySet<number | undefined> = new Set([400, 422, 501]);

function otherForm(form: RequestForm, { fault, facts }: ChatFailed): RequestForm | undefined {
  const saysSo = facts.refusedPart === 'system' || FORM_REFUSALS.has(facts.status);
  const isRefusal = fault === 'refused' && saysSo && facts.isPromptTooLong !== true;
  return isRefusal ? formAfterRefusal(form, facts.refusedPart) : undefined;
}

const isPassing = ({ fault }: ChatFailed): boolean => fault !== 'refused' && fault !== 'overdue';

async function pause(
  { clock }: AskDependencies,
  question: Question,
  failure: ChatFailed,
  tries: number,
): Promise<void> {
  const delayMs = Math.max(backoffDelay(tries, PAUSE), failure.facts.retryAfterMs ?? 0);
  if (clock.monotonic() + delayMs >= question.deadline) throw endingOf(failure, question);
  await clock.sleep(delayMs, question.signal);
}

/** What a failure means to the caller. The server's own words stay out: they may repeat the prompt or the key. */
function endingOf({ fault, facts }: ChatFailed, { request }: Question): ServiceError {
  const { modelId } = request.model.record;
  if (facts.isPromptTooLong === true)
    return new ServiceError(
      'prompt_too_large',
      `The server of the AI model "${modelId}" takes no prompt of this length. Make it smaller, or choose a model with a longer context.`,
    );
  if (fault === 'timeout' || fault === 'overdue')
    return new ServiceError('deadline_exceeded', `The AI model "${modelId}" gave no answer in time.`, {
      facts: { modelId },
    });
  const status = facts.status === undefined ? {} : { status: facts.status };
  return new ServiceError('unavailable', `${REASONS[fault](modelId)} Try again later.`, {
    facts: { modelId, reason: fault, ...status },
  });
}

const failing = (modelId: string) => `The server of the AI model "${modelId}" failed to answer.`;
const REASONS: Readonly<Record<Exclude<ChatFault, 'timeout' | 'overdue'>, (modelId: string) => string>> = {
  refused: (modelId) =>
    `The server of the AI model "${modelId}" refused the request, so its operator has to act.`,
  rate_limited: (modelId) => `The server of the AI model "${modelId}" has too many requests.`,
  unreachable: (modelId) => `The server of the AI model "${modelId}" cannot be reached.`,
  server_error: failing,
  broken_answer: failing,
  too_large: failing,
};
