import { hash } from 'node:crypto';
import { ServiceError } from '@orrery/contracts';
import { type Reading, readAnswer, type StrictForm, strictFormOf } from '@orrery/deciding';
import { type Backoff, backoffDelay, type Clock, type Logger, orAborted } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import {
  BEST,
  chatRequest,
  formAfterRefusal,
  formBelow,
  LADDER,
  type PreparedRequest,
  type RefusedAnswer,
  type RequestForm,
  refuseHuge,
  roomOf,
} from '../../core/prompting/chat-request.js';
import {
  type Decider,
  type DeciderAnswer,
  DeciderFailed,
  type DeciderRequest,
  type OutputForm,
} from '../../core/prompting/model.js';
import { CallSlots } from './call-limits.js';
import { type ChatAnswer, ChatClient, ChatFailed, type ChatFault, faultAfter } from './chat-client.js';
import { Circuits } from './circuits.js';
import { type CallDependencies, callModel, Exchange, type ModelCall } from './model-call.js';

interface AskDependencies extends CallDependencies {
  readonly forms: FormMemory;
}

/**
 * A decider that asks the AI model of a request (docs/ai.md). An answer that is no proposal goes back to the model with
 * the reason, twice at most. What it throws is a `DeciderFailed` with the evidence of all that was sent; its causes are
 * `ai_output_invalid`, `unavailable`, `deadline_exceeded`, `prompt_too_large`, `too_many_waiting` and what the budget
 * throws.
 * @param options.callsPerDeployment that may be under way in this process; `Infinity` for any number
 */
export function createModelDecider({
  callsPerDeployment,
  ...options
}: {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly callsPerDeployment: number;
}): Decider {
  const slots = new CallSlots(callsPerDeployment);
  const forms = new FormMemory(options.clock);
  const circuits = new Circuits(options.clock);
  const dependencies = { ...options, chat: new ChatClient(), slots, circuits, forms };
  const decider = (request: DeciderRequest, signal: AbortSignal) => decide(dependencies, request, signal);
  return Object.assign(decider, {
    refuseCrowd: (accountId: number, modelId: string) => slots.refuseCrowd(accountId, modelId),
  });
}

/** The decision ends so long before its deadline, in milliseconds: it still has to say what it has cost. */
const ENDING_MS = 250;

interface Question extends ModelCall {
  readonly request: DeciderRequest;
  /** In milliseconds, by the monotonic clock. */
  readonly deadline: number;
}

async function decide(
  dependencies: AskDependencies,
  request: DeciderRequest,
  signal: AbortSignal,
): Promise<DeciderAnswer> {
  const { clock } = dependencies;
  const exchange = new Exchange(clock, request.model);
  const deadline = request.deadline - ENDING_MS;
  using timed = faultAfter('overdue', deadline - clock.monotonic(), clock, signal);
  try {
    return await untilProposal(dependencies, { request, exchange, deadline, signal: timed.signal });
  } catch (error) {
    const cause = error instanceof ChatFailed ? new ServiceError('deadline_exceeded') : error;
    throw new DeciderFailed(cause, exchange.evidence());
  }
}

const MAX_ANSWERS = 3;

async function untilProposal(dependencies: AskDependencies, question: Question): Promise<DeciderAnswer> {
  const { forms } = dependencies;
  const { request, exchange } = question;
  const { model, definition } = request;
  refuseHuge(request, roomOf(model));
  const key = { baseUrl: model.baseUrl, model: model.upstreamModel, definition: definition.hash };
  const strictForm = strictFormOf(definition);
  const seed = seedOf(request.executionId);
  const refused: RefusedAnswer[] = [];
  const faults: string[] = [];
  let cause: unknown;
  const prepare = (form: RequestForm) =>
    chatRequest(request, form, { strictForm, refused, seed: seed + refused.length });
  let form = forms.formFor(key);
  if (form.output === 'strict' && strictForm === null) form = { ...form, output: 'json' };
  while (faults.length < MAX_ANSWERS) {
    const asked = await askModel(dependencies, question, form, prepare);
    // One that was refused in all forms says nothing of them.
    if (asked.form !== form) forms.lowered(key, asked.form);
    const reading = await readAndCheck(question, strictForm, asked);
    if (reading.ok || reading.fault === 'not_allowed') forms.worked(key, asked.form);
    if (reading.ok) return { mutation: reading.mutation, ...exchange.evidence() };
    const lower = isIgnored(asked.form, reading) ? formBelow(asked.form) : undefined;
    if (lower !== undefined) forms.lowered(key, lower);
    form = lower ?? asked.form;
    exchange.refused(reading.fault, reading.reason);
    faults.push(reading.fault);
    cause = reading.cause;
    refused.push({ answer: asked.answer?.message.content ?? null, reason: reading.reason });
  }
  const { modelId } = model.record;
  throw new ServiceError(
    'ai_output_invalid',
    `The AI model "${modelId}" gave no valid proposal in ${MAX_ANSWERS} answers.`,
    { facts: { modelId, faults }, cause },
  );
}

/** 31 bits: some servers take no larger seed. */
const seedOf = (executionId: string): number =>
  Number.parseInt(hash('sha256', executionId, 'hex').slice(0, 8), 16) >>> 1;

async function readAndCheck(
  { request: { definition, entities, check }, signal }: Question,
  strictForm: StrictForm | null,
  { answer, form }: Asked,
): Promise<Reading & { readonly cause?: unknown }> {
  if (answer === null) return { ok: false, fault: 'too_large', reason: 'The answer was far too large.' };
  const asStrict = form.output === 'strict' ? strictForm : null;
  const reading = readAnswer(answer.message, { definition, entities, strictForm: asStrict });
  // The deployment's lane may be busy until after the deadline.
  const refusal = reading.ok ? await orAborted(check(reading.mutation), signal) : undefined;
  return refusal === undefined ? reading : { ok: false, fault: 'not_allowed', ...refusal };
}

/** Whether a server took no notice of the form that was asked for: JSON mode asks for JSON, a schema for its form. */
const isIgnored = (form: RequestForm, reading: Extract<Reading, { ok: false }>): boolean =>
  reading.fault === 'not_json' ||
  (reading.fault === 'wrong_form' && form.output === 'strict' && reading.isStrict !== true);

interface Asked {
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
async function askModel(
  dependencies: CallDependencies,
  question: Question,
  best: RequestForm,
  prepare: (form: RequestForm) => PreparedRequest,
): Promise<Asked> {
  let form = best;
  for (let tries = 1; ; ) {
    const failure = await callModel(dependencies, question, () => prepare(form)).catch(asFailure);
    if (!(failure instanceof ChatFailed)) return { answer: failure, form };
    if (failure.fault === 'too_large') return { answer: null, form };
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
  { clock }: CallDependencies,
  question: Question,
  failure: ChatFailed,
  tries: number,
): Promise<void> {
  const delayMs = Math.max(backoffDelay(tries, PAUSE), failure.facts.retryAfterMs ?? 0);
  if (clock.monotonic() + delayMs >= question.deadline) throw endingOf(failure, question);
  await clock.sleep(delayMs, question.signal).catch(() => question.signal.throwIfAborted());
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

/** How long a lower form is kept before the best one is tried again, in milliseconds. */
const KEPT_MS = 60 * 60 * 1000;
const MAX_KEPT = 10_000;

/** Who is asked, and for what: `definition` is the hash of the event version's definition. */
type FormKey = Readonly<Record<'baseUrl' | 'model' | 'definition', string>>;
type Parameters = Partial<Omit<RequestForm, 'output'>>;

const ofModel = ({ baseUrl, model }: FormKey): string => JSON.stringify([baseUrl, model]);
const ofDefinition = ({ baseUrl, model, definition }: FormKey): string =>
  JSON.stringify([baseUrl, model, definition]);

/**
 * Remembers for an hour what did not work. Parameters are the server's affair: they are left out for the whole model. A
 * form of output may be the event's own fault, be it its schema or its prompt, so it is given up for that definition
 * alone; for the whole model only when a second definition gives it up too and it has worked for none.
 */
export class FormMemory {
  readonly #parameters: LRUCache<string, Parameters>;
  readonly #outputs: LRUCache<string, OutputForm>;
  readonly #proven: LRUCache<string, true>;
  readonly #givenUp: LRUCache<string, string>;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    const perf = { now: () => clock.monotonic() };
    const options = { max: MAX_KEPT, ttl: KEPT_MS, ttlResolution: 0, perf };
    this.#parameters = new LRUCache(options);
    this.#outputs = new LRUCache(options);
    this.#proven = new LRUCache(options);
    this.#givenUp = new LRUCache(options);
  }

  /** The best form that is not known to be refused or ignored. */
  formFor(key: FormKey): RequestForm {
    const output = this.#outputs.get(ofDefinition(key)) ?? this.#outputs.get(ofModel(key)) ?? BEST.output;
    return { ...BEST, ...this.#parameters.get(ofModel(key)), output };
  }

  /** The server took this form, and the answer had it. */
  worked(key: FormKey, { output }: RequestForm): void {
    this.#proven.set(`${ofModel(key)} ${output}`, true);
  }

  /** The form that took the place of one that was refused or ignored. */
  lowered(key: FormKey, { output, ...rest }: RequestForm): void {
    const unusual = Object.entries(rest).filter(([name, value]) => value !== BEST[name as keyof RequestForm]);
    const parameters = { ...this.#parameters.get(ofModel(key)), ...Object.fromEntries(unusual) };
    this.#parameters.set(ofModel(key), parameters);
    if (output === BEST.output) return;
    this.#outputs.set(ofDefinition(key), output);
    const better = LADDER.slice(0, LADDER.indexOf(output));
    const kept = better.map((one) => this.#isGivenUp(key, one)).indexOf(false);
    const ofAll = kept < 0 ? output : better[kept];
    if (ofAll !== undefined && ofAll !== BEST.output) this.#outputs.set(ofModel(key), ofAll);
  }

  #isGivenUp(key: FormKey, output: OutputForm): boolean {
    const name = `${ofModel(key)} ${output}`;
    if (this.#proven.get(name)) return false;
    const first = this.#givenUp.get(name) ?? key.definition;
    this.#givenUp.set(name, first);
    return first !== key.definition;
  }
}
