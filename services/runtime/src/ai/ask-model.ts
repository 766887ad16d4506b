import { ServiceError } from '@orrery/contracts';
import { type Backoff, backoffDelay } from '@orrery/service-kit';
import {
  type Attempt,
  type AttemptDependencies,
  attemptRequest,
  type PreparedRequest,
} from './attempt-request.js';
import { type ChatAnswer, ChatFailed, type ChatFault } from './chat-client.js';
import { type FormKey, type FormMemory, formAfterRefusal, type RequestForm } from './request-forms.js';

export interface AskDependencies extends AttemptDependencies {
  readonly forms: FormMemory;
}

export interface Question extends Attempt {
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

/** Requests for one answer, where the server fails or asks to wait. */
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
    const failure = await attemptRequest(dependencies, question, () => question.prepare(form)).catch(
      asFailure,
    );
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

/** @throws when the pause would last beyond the deadline */
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
