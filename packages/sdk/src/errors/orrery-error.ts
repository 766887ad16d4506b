import type { components } from '../generated/api.js';
import type { ErrorCode } from '../generated/operations.js';
import { parseJson } from '../json/parse-json.js';
import { decodeHeader, type PaymentRequired } from './payments.js';

type Problem = components['schemas']['Problem'];
/** One wrong part of a request: `pointer` is RFC 6901 into the body, or `#query/…`, `#path/…`, `#header/…`. */
export type FieldProblem = NonNullable<Problem['errors']>[number];

/**
 * A code of the service, or one of the SDK: `network_error` (no answer arrived), `http_error` (the answer is none of
 * the service's, such as a proxy's page), `redirected` (a change was sent on to another address: `facts.location`),
 * `tail_lost` (the journal was cut and went on differently: read it anew), `unreadable_event` (an event of a stream is no
 * JSON).
 */
export type OrreryErrorCode =
  | ErrorCode
  | 'network_error'
  | 'http_error'
  | 'redirected'
  | 'tail_lost'
  | 'unreadable_event'
  | (string & {});

/** The same request may succeed later without being changed. */
const RETRYABLE: ReadonlySet<string> = new Set([
  'request_timeout',
  'deployment_busy',
  'write_conflict',
  'request_in_flight',
  'rate_limited',
  'too_many_waiting',
  'ai_output_invalid',
  'randomness_unavailable',
  'ai_model_unavailable',
  'unavailable',
  'overloaded',
  'storage_full',
  'deadline_exceeded',
  'network_error',
]);

/** Of proxies, whose answers have no code. */
const TEMPORARY: ReadonlySet<number> = new Set([502, 503, 504]);

interface ErrorFacts {
  readonly code: OrreryErrorCode;
  readonly detail: string;
  readonly status?: number;
  readonly pointers?: readonly FieldProblem[];
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly requestId?: string | undefined;
  readonly headers?: Headers;
  readonly cause?: unknown;
}

/** Every failure of the service and of the way to it. `message` is the service's own text. */
export class OrreryError extends Error {
  override readonly name = 'OrreryError';
  readonly code: OrreryErrorCode;
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** What is wrong in the request, part by part. */
  readonly pointers: readonly FieldProblem[];
  /** Typed facts for programs, such as `expected` of `message_mismatch`. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Finds the request in the service's log. */
  readonly requestId: string | undefined;
  /** Headers of the answer. */
  readonly headers: Headers;
  /** Seconds to wait before the next try, where the service says so (`Retry-After`). */
  readonly retryAfter: number | undefined;

  constructor({
    code,
    detail,
    status = 0,
    pointers = [],
    facts = {},
    requestId,
    headers,
    cause,
  }: ErrorFacts) {
    super(detail, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.pointers = pointers;
    this.facts = facts;
    this.requestId = requestId;
    this.headers = headers ?? new Headers();
    this.retryAfter = secondsIn(this.headers.get('retry-after'));
  }

  /** What a public execution costs and how to pay it, where the error is that it was not paid (402) and says so. */
  get paymentRequired(): PaymentRequired | null {
    return decodeHeader<PaymentRequired>(this.headers.get('payment-required'));
  }

  /** Whether nobody knows yet what became of the request: it may have taken effect, and may still. */
  get isUndecided(): boolean {
    const isOpen = this.code === 'network_error' || this.code === 'request_in_flight';
    return isOpen || isOfProxy(this) || this.facts['outcome'] === 'unknown';
  }

  /** Whether the same request may succeed later without being changed. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code) || this.retryAfter !== undefined || (isOfProxy(this) && !isPage(this));
  }
}

/** Something on the way has answered in place of the service, also with its own page as a success. */
const isOfProxy = ({ code, status }: OrreryError): boolean =>
  code === 'http_error' && (status < 300 || TEMPORARY.has(status));

/** A login or another site's page, which comes again; JSON that is no envelope was cut off. */
const isPage = ({ status, headers }: OrreryError): boolean =>
  status < 300 && !/json/i.test(headers.get('content-type') ?? 'json');

/** RFC 9110 §10.2.3: seconds, or a date, which begins with the day of the week. `Date.parse` takes `1.5` for a date. */
function secondsIn(header: string | null): number | undefined {
  if (header === null || !/^(\d+$|[A-Z][a-z]{2})/.test(header)) return undefined;
  const seconds = /^\d/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/** Of an answer that is none of the service. */
export const httpError = ({ status, headers }: Response): OrreryError =>
  new OrreryError({
    code: 'http_error',
    detail: `The answer is HTTP ${status}, and it is not from Orrery.`,
    status,
    headers,
  });

/** The error that an answer tells of; one that is no problem document (RFC 9457) is `http_error`. */
export function errorOfAnswer(answer: Response, text: string): OrreryError {
  const problem = problemIn(text);
  if (problem === undefined) return httpError(answer);
  const { status, headers } = answer;
  const { code, detail, errors, facts, requestId } = problem;
  return new OrreryError({
    code,
    detail,
    status,
    headers,
    requestId,
    pointers: errors ?? [],
    facts: (facts ?? {}) as Record<string, unknown>,
  });
}

function problemIn(text: string): Problem | undefined {
  try {
    const body = parseJson(text) as Problem | null;
    return typeof body?.code === 'string' ? body : undefined;
  } catch {
    return undefined;
  }
}
