import { type Attributes, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import type { ModelMessage } from '@orrery/deciding';
import { type Clock, createMeter, createTracer } from '@orrery/service-kit';
import type { RefusedPart } from '../../core/prompting/chat-request.js';
import type { Model } from '../../core/prompting/model.js';
import { boundedFetch } from './bounded-fetch.js';

/** An answer to a request for a chat completion. */
export interface ChatAnswer {
  readonly message: ModelMessage;
  /** Tokens as the server counted them; null where it did not say. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | null;
  readonly attestation: JsonObject | null;
}

/** Why a request has no answer. */
export type ChatFault =
  /** The server does not accept the request or its key (4xx except 408 and 429, and 501). */
  | 'refused'
  | 'rate_limited'
  /** The server failed (5xx). */
  | 'server_error'
  | 'unreachable'
  /** The connection broke, or what came is no chat completion. */
  | 'broken_answer'
  | 'too_large'
  /** The server took longer than a call of the model may take. */
  | 'timeout'
  /** The deadline of the execution came first, which says nothing of the server. */
  | 'overdue';

interface ChatFailureFacts {
  readonly status?: number;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly refusedPart?: RefusedPart | undefined;
  readonly isPromptTooLong?: boolean;
}

/** A request without an answer. It holds no text of the server, which may repeat the prompt or the key. */
export class ChatFailed extends Error {
  override readonly name = 'ChatFailed';

  constructor(
    readonly fault: ChatFault,
    readonly facts: ChatFailureFacts = {},
  ) {
    super(`the request to the model has no answer: ${fault}`);
  }
}

/** A signal that aborts with a fault after so many milliseconds, or when `signal` does. */
export function faultAfter(
  fault: ChatFault,
  ms: number,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const [late, ended] = [new AbortController(), new AbortController()];
  clock.sleep(Math.max(0, ms), ended.signal).then(
    () => late.abort(new ChatFailed(fault)),
    () => undefined,
  );
  return { signal: AbortSignal.any([signal, late.signal]), [Symbol.dispose]: () => ended.abort() };
}

/** Bytes of an answer's body that are read. An answer's text has at most 512 KiB, and its JSON escapes it. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;

/** The buckets that the conventions advise, in seconds and in tokens. */
const DURATIONS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/**
 * A client of OpenAI-compatible servers. The library makes the request and names its errors; it does not retry (the
 * caller knows the deadline, the budget and the server's health, and records each call), logs nothing, and reads its
 * environment variables for nothing that is set here. Spans and metrics have the names of OpenTelemetry's GenAI
 * conventions and never hold the texts.
 */
export class ChatClient {
  #loaded: ReturnType<typeof loadLibraries> | undefined;
  readonly #tracer = createTracer('runtime');
  readonly #durations = createMeter('runtime').createHistogram('gen_ai.client.operation.duration', {
    unit: 's',
    advice: { explicitBucketBoundaries: DURATIONS },
  });
  readonly #tokens = createMeter('runtime').createHistogram('gen_ai.client.token.usage', {
    unit: '{token}',
    advice: { explicitBucketBoundaries: TOKENS },
  });

  /**
   * Sends one request, once. @throws ChatFailed, or the signal's reason when it aborts; both cancel the HTTP request
   * @param onSent called as soon as the request goes out: from then on it may cost something
   */
  complete(model: Model, body: JsonObject, signal: AbortSignal, onSent: () => void): Promise<ChatAnswer> {
    const startedAt = performance.now();
    const attributes = attributesOf(model);
    const ended = (more: Attributes) =>
      this.#durations.record((performance.now() - startedAt) / 1000, { ...attributes, ...more });
    const options = { kind: SpanKind.CLIENT, attributes };
    return this.#tracer.startActiveSpan(`chat ${model.upstreamModel}`, options, async (span) => {
      try {
        this.#loaded ??= loadLibraries();
        const answer = await complete(await this.#loaded, model, body, signal, onSent);
        ended({});
        this.#count(answer.usage, attributes);
        span.setAttributes(answerAttributes(answer));
        return answer;
      } catch (error) {
        const type = error instanceof ChatFailed ? error.fault : 'cancelled';
        ended({ 'error.type': type });
        span.setAttribute('error.type', type);
        span.setStatus({ code: SpanStatusCode.ERROR, message: type });
        throw error;
      } finally {
        span.end();
      }
    });
  }

  #count(usage: ChatAnswer['usage'], attributes: Attributes): void {
    if (usage === null) return;
    this.#tokens.record(usage.inputTokens, { ...attributes, 'gen_ai.token.type': 'input' });
    this.#tokens.record(usage.outputTokens, { ...attributes, 'gen_ai.token.type': 'output' });
  }
}

function attributesOf({ baseUrl, upstreamModel }: Model): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  return {
    'gen_ai.operation.name': 'chat',
    // The servers are known by their interface only.
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': upstreamModel,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
}

const answerAttributes = ({ message, usage }: ChatAnswer): Attributes => ({
  ...(message.finishReason !== null && { 'gen_ai.response.finish_reasons': [message.finishReason] }),
  ...(usage !== null && {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
  }),
});

type UndiciInit = Parameters<typeof import('undici').fetch>[1];

/** Loads what only processes need that ask a model. */
async function loadLibraries() {
  // In the all-in-one's bundle a CommonJS package that is loaded late has its default export only.
  const [{ default: OpenAI }, { default: undici }] = await Promise.all([import('openai'), import('undici')]);
  const { Agent, fetch } = undici;
  // The caller's timeout covers headers and body; undici's own ones would end slow answers after 300 s.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const bounds = { mostBytes: MAX_BODY_BYTES, tooLarge: () => new ChatFailed('too_large') };
  const sends = (url: string, init: UndiciInit) => fetch(url, { ...init, dispatcher });
  return { OpenAI, fetch: boundedFetch(sends, bounds) };
}

async function complete(
  { OpenAI, fetch }: Awaited<ReturnType<typeof loadLibraries>>,
  model: Model,
  body: JsonObject,
  signal: AbortSignal,
  onSent: () => void,
): Promise<ChatAnswer> {
  const client = new OpenAI({
    apiKey: model.apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: model.baseUrl,
    maxRetries: 0,
    // The signal ends it earlier.
    timeout: LIBRARY_TIMEOUT_MS,
    logLevel: 'off',
    fetch: (url, init) => {
      signal.throwIfAborted();
      onSent();
      return fetch(url, init);
    },
    ...(model.apiKey === undefined ? { defaultHeaders: { authorization: null } } : {}),
  });
  try {
    // The body is made by `chat-request.ts` from the same parameters.
    const { data, response } = await client.chat.completions.create(body as never, { signal }).withResponse();
    return answerOf(data as unknown as JsonValue, response.headers, model);
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(error);
  }
}

const LIBRARY_TIMEOUT_MS = 24 * 60 * 60 * 1000;

/** Parameters that a request can do without, or give by another name. */
const OPTIONAL_PARAMETERS = ['max_tokens', 'temperature', 'seed'] as const;
/** How servers say that the model's template has no system role, also with 500; an error that only quotes it costs a try. */
const NO_SYSTEM_ROLE =
  /\bsystem (role|message|prompt|instruction)|'system'|developer instruction|roles must alternate/i;

function refusedPartOf(error: unknown): RefusedPart | undefined {
  const { message, param } = error as { message?: unknown; param?: unknown };
  const parameter = OPTIONAL_PARAMETERS.find((name) => name === param);
  return parameter ?? (NO_SYSTEM_ROLE.test(String(message).slice(0, MAX_ERROR_TEXT)) ? 'system' : undefined);
}

const MAX_ERROR_TEXT = 2000;

function failureOf(error: unknown): ChatFailed {
  const known = causesOf(error).find((cause) => cause instanceof ChatFailed);
  if (known !== undefined) return known;
  const { status, headers, code } = error as { status?: unknown; headers?: Headers; code?: unknown };
  if (typeof status !== 'number') return new ChatFailed(wasReached(error) ? 'broken_answer' : 'unreachable');
  const facts = {
    status,
    retryAfterMs: retryAfterOf(headers),
    refusedPart: refusedPartOf(error),
    isPromptTooLong: code === 'context_length_exceeded',
  };
  if (status === 429 || status === 408) return new ChatFailed('rate_limited', facts);
  const isRefused = (status >= 400 && status < 500) || status === 501 || facts.refusedPart === 'system';
  return new ChatFailed(isRefused ? 'refused' : 'server_error', facts);
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 10; cause = cause.cause)
    causes.push(cause);
  return causes;
}

/** Errors of a connection that was never made. */
const NOT_CONNECTED = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);

function wasReached(error: unknown): boolean {
  const causes = causesOf(error).flatMap((cause) =>
    cause instanceof AggregateError ? cause.errors : [cause],
  );
  return !causes.some((cause) => NOT_CONNECTED.has(String((cause as { code?: unknown }).code)));
}

/** The header `retry-after` (RFC 9110, seconds or a date) or `retry-after-ms`. */
function retryAfterOf(headers: Headers | undefined, now = Date.now()): number | undefined {
  const milliseconds = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const text = headers?.get('retry-after')?.trim() ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

function answerOf(data: JsonValue, headers: Headers, model: Model): ChatAnswer {
  const choice = isJsonObject(data) && Array.isArray(data['choices']) ? data['choices'][0] : undefined;
  if (!isJsonObject(data) || !isJsonObject(choice)) throw new ChatFailed('broken_answer', { status: 200 });
  const message = isJsonObject(choice['message']) ? choice['message'] : {};
  return {
    message: {
      content: textOrNull(message['content']),
      finishReason: finishReasonOf(choice['finish_reason']),
      refusal: textOrNull(message['refusal']),
      hasToolCalls: isJsonObject(message['function_call']) || isFilled(message['tool_calls']),
    },
    usage: usageOf(data['usage']),
    attestation: attestationOf(data, headers, model),
  };
}

const FINISH_REASONS = new Set(['stop', 'length', 'content_filter', 'tool_calls', 'function_call']);

/** One of the known ones; servers are not trusted to put nothing else there. */
const finishReasonOf = (value: JsonValue | undefined): string | null =>
  typeof value !== 'string' ? null : FINISH_REASONS.has(value) ? value : 'other';

const textOrNull = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

const isFilled = (value: JsonValue | undefined): boolean => Array.isArray(value) && value.length > 0;

function usageOf(usage: JsonValue | undefined): ChatAnswer['usage'] {
  if (!isJsonObject(usage)) return null;
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = usage;
  return isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : null;
}

const isCount = (value: JsonValue | undefined): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/** Bytes of an attestation that are kept: it is part of the journal. */
const MAX_ATTESTATION_BYTES = 64 * 1024;

function attestationOf(
  data: JsonObject,
  headers: Headers,
  { attestation: carried }: Model,
): JsonObject | null {
  if (carried === undefined) return null;
  const { from, name } = carried;
  const given = from === 'header' ? headers.get(name) : data[name];
  if (given === undefined || given === null) return null;
  const attestation = isJsonObject(given) ? given : { [name]: given };
  return Buffer.byteLength(JSON.stringify(attestation)) > MAX_ATTESTATION_BYTES ? null : attestation;
}
