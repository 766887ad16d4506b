import { hash } from 'node:crypto';
import { ServiceError } from '@orrery/contracts';
import { type Clock, type Logger, orAborted } from '@orrery/service-kit';
import {
  type Decider,
  type DeciderAnswer,
  DeciderFailed,
  type DeciderRequest,
  type Model,
} from '../../core/models/model.js';
import {
  buildPrompt,
  corrections,
  type ModelRoom,
  outputLimitOf,
  type RefusedAnswer,
  refuseHuge,
  roomBeside,
  schemaTokens,
  tokensOf,
} from '../../core/prompting/prompt.js';
import { type Reading, readAnswer } from '../../core/prompting/read-answer.js';
import { chatRequest, formBelow, type RequestForm } from '../../core/prompting/request-form.js';
import { type StrictForm, strictFormOf } from '../../core/prompting/strict-form.js';
import {
  type AskDependencies,
  type Asked,
  askModel,
  type PreparedRequest,
  type Question,
} from './ask-model.js';
import { createModelSignals, startExchange } from './call-records.js';
import { createCallSlots } from './call-slots.js';
import { type ChatClient, createChatClient } from './chat-client.js';
import {
  type CircuitBreaker,
  createCircuitBreaker,
  createFormMemory,
  type FormKey,
} from './model-servers.js';

interface ModelDeciderOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls of models that one deployment may have under way in this process; `Infinity` for any number. */
  readonly callsPerDeployment: number;
  readonly chat?: ChatClient;
}

/**
 * A decider that asks the AI model of a request (docs/ai.md). An answer that is no proposal goes back to the model with
 * the reason, twice at most. What it throws is a `DeciderFailed` with the evidence of all that was sent; its causes are
 * `ai_output_invalid`, `unavailable`, `deadline_exceeded`, `prompt_too_large`, `too_many_waiting` and what the budget
 * throws.
 */
export function createModelDecider({
  clock,
  logger,
  callsPerDeployment,
  chat = createChatClient(),
}: ModelDeciderOptions): Decider {
  const breakers = new Map<string, CircuitBreaker>();
  const breakerOf = (baseUrl: string) => {
    const breaker = breakers.get(baseUrl) ?? createCircuitBreaker(clock);
    breakers.set(baseUrl, breaker);
    return breaker;
  };
  const slots = createCallSlots(callsPerDeployment);
  const dependencies: AskDependencies = {
    chat,
    slots,
    breakerOf,
    forms: createFormMemory(clock),
    signals: createModelSignals('runtime'),
    clock,
    logger,
  };
  const decider = (request: DeciderRequest, signal: AbortSignal) => decide(dependencies, request, signal);
  return Object.assign(decider, { refuseCrowd: slots.refuseCrowd });
}

/** The decision ends so long before its deadline, in milliseconds: it still has to say what it has cost. */
const ENDING_MS = 250;

async function decide(
  dependencies: AskDependencies,
  request: DeciderRequest,
  signal: AbortSignal,
): Promise<DeciderAnswer> {
  const { clock } = dependencies;
  const exchange = startExchange(clock, request.model);
  const deadline = request.deadline - ENDING_MS;
  const ended = new AbortController();
  const overdue = new AbortController();
  clock.sleep(Math.max(0, deadline - clock.monotonic()), ended.signal).then(
    () => overdue.abort(new ServiceError('deadline_exceeded')),
    () => undefined,
  );
  try {
    const dialogue = startDialogue(dependencies, request);
    const base = { request, exchange, key: dialogue.key, deadline, signal, overdue: overdue.signal };
    return await untilProposal(dependencies, request, dialogue, { ...base, prepare: dialogue.prepare });
  } catch (error) {
    throw new DeciderFailed(error, exchange.evidence());
  } finally {
    ended.abort();
  }
}

const MAX_ANSWERS = 3;

async function untilProposal(
  dependencies: AskDependencies,
  request: DeciderRequest,
  dialogue: Dialogue,
  question: Omit<Question, 'form'>,
): Promise<DeciderAnswer> {
  const { exchange } = question;
  const faults: string[] = [];
  for (let form = dialogue.firstForm(); faults.length < MAX_ANSWERS; ) {
    const asked = await askModel(dependencies, { ...question, form });
    const reading = await readAndCheck(request, dialogue, asked, question.overdue);
    form = dialogue.formAfter(asked, reading);
    if (reading.ok) return { mutation: reading.mutation, ...exchange.evidence() };
    exchange.refused(reading.fault, reading.reason);
    faults.push(reading.fault);
    dialogue.refused({ answer: asked.answer?.message.content ?? null, reason: reading.reason });
  }
  throw new ServiceError(
    'ai_output_invalid',
    `The AI model "${request.model.record.modelId}" gave no valid proposal in ${MAX_ANSWERS} answers.`,
    { facts: { modelId: request.model.record.modelId, faults } },
  );
}

async function readAndCheck(
  { definition, entities, check }: DeciderRequest,
  { strictForm }: Dialogue,
  { answer, form }: Asked,
  overdue: AbortSignal,
): Promise<Reading> {
  if (answer === null) return { ok: false, fault: 'too_large', reason: 'The answer was far too large.' };
  const asStrict = form.output === 'strict' ? strictForm : null;
  const reading = readAnswer(answer.message, { definition, entities, strictForm: asStrict });
  // The deployment's lane may be busy until after the deadline.
  const refusal = reading.ok ? await orAborted(check(reading.mutation), overdue) : undefined;
  return refusal === undefined ? reading : { ok: false, fault: 'not_allowed', reason: refusal };
}

interface Dialogue {
  readonly key: FormKey;
  readonly strictForm: StrictForm | null;
  firstForm(): RequestForm;
  /** The form of the next request: a lower one after an answer that ignored what was asked for. */
  formAfter(asked: Asked, reading: Reading): RequestForm;
  refused(answer: RefusedAnswer): void;
  /** @throws `prompt_too_large` */
  prepare(form: RequestForm): PreparedRequest;
}

/** Whether a server took no notice of the form that was asked for: JSON mode asks for JSON, a schema for its form. */
const isIgnored = (form: RequestForm, reading: Reading): boolean =>
  !reading.ok &&
  (reading.fault === 'not_json' ||
    (reading.fault === 'wrong_form' && form.output === 'strict' && reading.isStrict !== true));

function startDialogue({ forms }: AskDependencies, request: DeciderRequest): Dialogue {
  const { model, definition, executionId } = request;
  refuseHuge(request, roomOf(model));
  const key = { baseUrl: model.baseUrl, model: model.upstreamModel, definition: definition.hash };
  const strictForm = strictFormOf(definition);
  const refused: RefusedAnswer[] = [];
  const seed = seedOf(executionId);
  return {
    key,
    strictForm,
    firstForm: () => {
      const form = forms.formFor(key);
      return form.output === 'strict' && strictForm === null ? { ...form, output: 'json' } : form;
    },
    formAfter: ({ form }, reading) => {
      if (reading.ok || reading.fault === 'not_allowed') forms.worked(key, form);
      const lower = isIgnored(form, reading) ? formBelow(form) : undefined;
      if (lower !== undefined) forms.lowered(key, lower);
      return lower ?? form;
    },
    refused: (answer) => void refused.push(answer),
    prepare: (form) => preparedRequest(request, form, strictForm, refused, seed + refused.length),
  };
}

function preparedRequest(
  request: DeciderRequest,
  form: RequestForm,
  strictForm: StrictForm | null,
  refused: readonly RefusedAnswer[],
  seed: number,
): PreparedRequest {
  const { model } = request;
  const { outputTokens } = roomOf(model);
  const schema = form.output === 'strict' ? (strictForm?.schema ?? null) : null;
  const prompt = buildPrompt(request, form.output);
  const room = roomBeside(prompt, schema, roomOf(model));
  const messages = [...prompt.messages, ...corrections(refused, room)];
  const inputTokens = tokensOf(messages) + schemaTokens(schema);
  const body = chatRequest({ model: model.upstreamModel, messages, form, schema, outputTokens, seed });
  return { body, output: form.output, inputTokens, outputTokens };
}

const roomOf = ({ record: { contextLength } }: Model): ModelRoom => ({
  contextLength,
  outputTokens: outputLimitOf(contextLength),
});

/** 31 bits: some servers take no larger seed. */
const seedOf = (executionId: string): number =>
  Number.parseInt(hash('sha256', executionId, 'hex').slice(0, 8), 16) >>> 1;
