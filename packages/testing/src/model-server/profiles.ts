import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** The body of a request for a chat completion, as far as tests read it. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly schema: Record<string, unknown>; readonly strict?: boolean };
  };
  readonly [parameter: string]: unknown;
}

/** One request, as a profile answers it and as tests see it. */
export interface ModelCall {
  readonly body: ChatBody;
  readonly headers: IncomingMessage['headers'];
  readonly response: ServerResponse;
  /** Aborts when the client has gone. */
  readonly gone: AbortSignal;
  /** Bytes of the answer that were handed to the socket so far. */
  bytesWritten(): number;
}

/** How the server behaves in answering a request. */
export type Profile = (call: ModelCall) => void | Promise<void>;

interface Completion {
  /** Members of the message beside `role`. */
  readonly message: Record<string, unknown>;
  readonly finishReason?: string;
  /** Null: the server does not count. */
  readonly usage?: Record<string, unknown> | null;
  readonly headers?: Record<string, string>;
  /** Further members of the answer. */
  readonly more?: Record<string, unknown>;
}

const completionText = (
  { body }: ModelCall,
  { message, finishReason = 'stop', usage, more }: Completion,
): string =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: body.model,
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason }],
    ...(usage === null
      ? {}
      : { usage: usage ?? { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }),
    ...more,
  });

/** Answers with a chat completion. */
export const completes =
  (completion: Completion | ((call: ModelCall) => Completion)): Profile =>
  (call) => {
    const made = typeof completion === 'function' ? completion(call) : completion;
    call.response.writeHead(200, { 'content-type': 'application/json', ...made.headers });
    call.response.end(completionText(call, made));
  };

const asText = (content: unknown): string =>
  typeof content === 'string' ? content : JSON.stringify(content);

/** Answers with a text, or with a value as JSON; a function makes it from the request. */
export const says = (content: unknown | ((call: ModelCall) => unknown)): Profile =>
  completes((call) => ({
    message: { content: asText(typeof content === 'function' ? content(call) : content) },
  }));

const json = { 'content-type': 'application/json' };
const errorBody = (message: string, more: object = {}) =>
  JSON.stringify({ error: { message, type: 'error', ...more } });

export const fails =
  (
    status: number,
    { headers = {}, body = errorBody('failed') }: { headers?: Record<string, string>; body?: string } = {},
  ): Profile =>
  ({ response }) => {
    response.writeHead(status, { ...json, ...headers });
    response.end(body);
  };

/** Refuses requests that ask for one of these forms of output (`json_schema`, `json_object`); serves the others. */
export const refusesForms =
  (forms: readonly string[], otherwise: Profile): Profile =>
  (call) => {
    const form = call.body.response_format?.type;
    return form !== undefined && forms.includes(form)
      ? fails(400, { body: errorBody(`response_format ${form} is not supported`) })(call)
      : otherwise(call);
  };

/** Refuses requests that have this parameter, as OpenAI's servers do; serves the others. */
export const refusesParameter =
  (parameter: string, otherwise: Profile): Profile =>
  (call) =>
    Object.hasOwn(call.body, parameter)
      ? fails(400, { body: errorBody(`unsupported`, { param: parameter, code: 'unsupported_parameter' }) })(
          call,
        )
      : otherwise(call);

/**
 * Refuses messages of the system, as servers do whose model's template has no such role: vLLM answers 400, llama.cpp 500.
 */
export const refusesSystemRole =
  (otherwise: Profile, status = 400, reason = 'System role not supported'): Profile =>
  (call) =>
    call.body.messages.some(({ role }) => role === 'system')
      ? fails(status, { body: errorBody(reason) })(call)
      : otherwise(call);

const MEGABYTE = 1024 * 1024;
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const change = (attribute: string, value: string) =>
  `{"stateChanges":{"horse:HORSE_1":{${JSON.stringify(attribute)}:${value}}},"result":null}`;

/** Ways in which servers and models misbehave, by name. None of them gives a valid proposal. */
export const MISBEHAVIOUR = {
  'rate limit': fails(429),
  'rate limit with retry-after': fails(429, { headers: { 'retry-after': '1' } }),
  'rate limit for an hour': fails(429, { headers: { 'retry-after': '3600' } }),
  'server error': fails(500),
  'bad gateway': fails(502, { headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' }),
  'wrong key': fails(401, { body: errorBody('Incorrect API key provided: sk-secret') }),
  redirect: fails(307, { headers: { location: 'http://127.0.0.1:9/v1/chat/completions' } }),
  hang: async ({ gone }: ModelCall) => {
    if (!gone.aborted) await once(gone, 'abort');
  },
  'slow drip': async ({ response, gone }: ModelCall) => {
    response.writeHead(200, json);
    while (!gone.aborted) {
      response.write(' ');
      await wait(10, undefined, { signal: gone });
    }
  },
  'disconnect before the answer': ({ response }: ModelCall) => void response.socket?.destroy(),
  'disconnect mid-answer': async (call: ModelCall) => {
    const text = completionText(call, { message: { content: '{}' } });
    call.response.writeHead(200, { ...json, 'content-length': text.length });
    call.response.write(text.slice(0, text.length / 2));
    await wait(5);
    call.response.socket?.destroy();
  },
  '50 MB': async ({ response, gone }: ModelCall) => {
    response.writeHead(200, json);
    response.write('{"choices":[{"message":{"content":"');
    for (let sent = 0; sent < 50 && !gone.aborted; sent += 1)
      if (!response.write('x'.repeat(MEGABYTE))) await once(response, 'drain', { signal: gone });
    response.end('"}}]}');
  },
  'body is no JSON': ({ response }: ModelCall) => {
    response.writeHead(200, json);
    response.end('{"choices": [');
  },
  'body is HTML': ({ response }: ModelCall) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<h1>It works!</h1>');
  },
  'no choices': ({ response }: ModelCall) => {
    response.writeHead(200, json);
    response.end('{"choices":[]}');
  },
  'invalid JSON': says('{"stateChanges": {"horse:HORSE_1": {"wins": 5'),
  'prose around JSON': says(`Here is the outcome:\n${change('wins', '4')}\nEnjoy!`),
  'prose in a fence': says('```json\nThe horse wins.\n```'),
  'wrong keys': says(change('winz', '4')),
  'keys without a colon': says('{"stateChanges":{"HORSE_1":{"wins":4}}}'),
  'a list': says('[1, 2, 3]'),
  'a text': says('"HORSE_1 wins"'),
  empty: says(''),
  'no content': completes({ message: { content: null } }),
  refusal: completes({ message: { content: null, refusal: 'I cannot help with horses.' } }),
  'content filter': completes({ message: { content: '{}' }, finishReason: 'content_filter' }),
  'tool call': completes({
    message: {
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'win', arguments: '{}' } }],
    },
    finishReason: 'tool_calls',
  }),
  'cut off': completes({ message: { content: change('wins', '4') }, finishReason: 'length' }),
  'U+0000': says(change('name', '"a\\u0000b"')),
  'lone surrogate': says(change('name', '"a\\ud83d"')),
  __proto__: says(change('__proto__', '{"wins":4}')),
  '1e400': says(change('wins', '1e400')),
  'depth 100,000': says(nested(100_000)),
  'text of 2 MB': says(JSON.stringify({ result: { text: 'x'.repeat(1.5 * MEGABYTE) } })),
} as const satisfies Record<string, Profile>;
