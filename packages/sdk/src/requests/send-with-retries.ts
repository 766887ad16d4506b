import { errorOfAnswer, OrreryError } from '../errors/orrery-error.js';

export interface SendOptions {
  readonly fetch: typeof fetch;
  /** Milliseconds from the first try in which others may begin; 0 makes one try. */
  readonly retryForMs: number;
  /** Sending the request twice has the effect of sending it once. */
  readonly repeatable: boolean;
}

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5000;
/** Each is answered before anything was done. */
const NOTHING_DONE: ReadonlySet<string> = new Set(['rate_limited', 'too_many_waiting', 'request_timeout']);

/**
 * Sends a request, and again while its error says that it may succeed later. The answer's body has arrived whole when it
 * resolves, so that a connection that breaks in the middle is a try that failed.
 * @throws OrreryError for an answer that is no success, and as `network_error` where none came
 */
export async function sendWithRetries(request: Request, options: SendOptions): Promise<Response> {
  const until = performance.now() + options.retryForMs;
  for (let tries = 0; ; tries += 1) {
    const outcome = await sendOnce(request.clone(), options.fetch);
    if (outcome instanceof Response) return outcome;
    const delay = mayRepeat(outcome, options.repeatable) ? delayAfter(tries, outcome) : Infinity;
    if (performance.now() + delay >= until) throw outcome;
    await pause(delay, request.signal);
  }
}

async function sendOnce(request: Request, send: typeof fetch): Promise<Response | OrreryError> {
  try {
    const answer = await send(request);
    if (!answer.ok) return errorOfAnswer(answer, await answer.text());
    const { status, headers } = answer;
    return new Response(await answer.arrayBuffer(), { status, headers });
  } catch (cause) {
    if (request.signal.aborted) throw request.signal.reason;
    return networkError(request.url, cause);
  }
}

export const networkError = (url: string, cause: unknown): OrreryError =>
  new OrreryError({ code: 'network_error', detail: `No answer came from ${new URL(url).origin}.`, cause });

/**
 * An AI model that gave no valid proposal was asked several times already; its failure is the stored answer of the
 * Idempotency-Key. Any execution that failed has its entry in the journal, and a repetition would leave another.
 */
function mayRepeat(error: OrreryError, repeatable: boolean): boolean {
  const hasFailed = error.code === 'ai_output_invalid' || error.facts['historyId'] !== undefined;
  return error.retryable && !hasFailed && (repeatable || surelyNothingDone(error));
}

/** `reached: false`: no process took the request. Any other failure may have come after a change. */
const surelyNothingDone = ({ code, facts }: OrreryError): boolean =>
  NOTHING_DONE.has(code) || facts['reached'] === false;

/** Milliseconds; half of what is not the service's own word is random, so that clients do not return together. */
function delayAfter(tries: number, { retryAfter }: OrreryError): number {
  if (retryAfter !== undefined) return retryAfter * 1000;
  const delay = Math.min(FIRST_DELAY_MS * 2 ** tries, LONGEST_DELAY_MS);
  return delay * (0.5 + Math.random() / 2);
}

/** Resolves after so many milliseconds; rejects with the signal's reason when it aborts first. */
export function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const leave = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave);
      resolve();
    }, ms);
    signal?.addEventListener('abort', leave, { once: true });
  });
}
