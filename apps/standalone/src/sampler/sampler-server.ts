import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject, parseJson } from '@orrery/contracts';
import type { Model } from '@orrery/runtime';
import { listen, type Resources } from '@orrery/service-kit';
import { drawValue } from './draw-value.js';
import { fitToPrompt } from './fit-to-prompt.js';
import { createRandom, type Random, SchemaNotDrawable } from './random.js';
import { readPrompt } from './read-prompt.js';

/** The model's name in requests. */
export const SAMPLER_MODEL = 'orrery/sampler';
/** A prompt is at most as long as the model's context, which is far less. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const BYTES_PER_TOKEN = 4;

export interface SamplerServer extends AsyncDisposable {
  /** With `/v1`, as clients of OpenAI's interface take it. */
  readonly baseUrl: string;
  /** Made at random for this server. */
  readonly apiKey: string;
}

/**
 * A model server that understands nothing: it answers chat completions (OpenAI's interface) with a value drawn from the
 * JSON Schema of the request's `response_format`. The same request with the same `seed` gets the same answer. It listens
 * on the loopback address only, at a port that the system chooses.
 */
export async function startSamplerServer(): Promise<SamplerServer> {
  const apiKey = randomBytes(32).toString('base64url');
  const server = createServer({ requestTimeout: 30_000 }, (request, response) => {
    answer(request, apiKey)
      .then((body) => send(response, 200, body))
      .catch((error: unknown) => refuse(response, error))
      .catch(() => response.destroy());
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0, variable: 'the sampler' });
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return server[Symbol.asyncDispose]();
    },
  };
}

/** The request is refused; the message is for whoever sent it. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function answer(request: IncomingMessage, apiKey: string): Promise<JsonObject> {
  if (!isKey(request.headers.authorization, apiKey)) throw new Refusal(401, 'The API key is wrong.');
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
    throw new Refusal(404, 'This server has only POST /v1/chat/completions.');
  return complete(parse(await readBody(request)));
}

/** Compares digests, which takes the same time for every guess. */
function isKey(header: string | undefined, apiKey: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${apiKey}`));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) throw new Refusal(413, `The request is larger than ${MAX_BODY_BYTES} bytes.`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): JsonObject {
  try {
    const parsed = parseJson(text);
    if (isJsonObject(parsed)) return parsed;
  } catch {
    // Answered below.
  }
  throw new Refusal(400, 'The request is no JSON object.');
}

function complete(request: JsonObject): JsonObject {
  if (request.model !== SAMPLER_MODEL) throw new Refusal(404, `The only model here is ${SAMPLER_MODEL}.`);
  if (request.stream === true) throw new Refusal(400, 'This server does not stream.');
  const seed = request.seed ?? randomBytes(8).toString('hex');
  const asked = JSON.stringify([request.messages ?? [], request.response_format ?? null, seed]);
  const { content, refusal } = propose(request, createRandom(asked));
  const limit = request.max_completion_tokens ?? request.max_tokens;
  const cut = typeof limit === 'number' && content !== null && tokensOf(content) > limit;
  const promptTokens = tokensOf(JSON.stringify(request.messages ?? []));
  const completionTokens = cut ? limit : tokensOf(content ?? refusal ?? '');
  const message = {
    role: 'assistant',
    content: cut ? content.slice(0, limit * BYTES_PER_TOKEN) : content,
    refusal,
  };
  return {
    id: `chatcmpl-${createHash('sha256').update(asked).digest('hex').slice(0, 24)}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: SAMPLER_MODEL,
    choices: [{ index: 0, message, logprobs: null, finish_reason: cut ? 'length' : 'stop' }],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}

/**
 * A value of the requested schema; a proposal for an event changes what the event has read. A refusal is an answer, as of
 * a language model: an error would say that the server takes no schemas at all, and the next event would be asked without.
 */
function propose(
  { messages, response_format: format }: JsonObject,
  random: Random,
): Readonly<Record<'content' | 'refusal', string | null>> {
  const schema =
    isJsonObject(format) && isJsonObject(format.json_schema) ? format.json_schema.schema : undefined;
  if (schema === undefined)
    return { content: null, refusal: 'The sampler draws from a JSON Schema, and the request has none.' };
  try {
    const facts = readPrompt(messages);
    const fitted = facts === undefined ? schema : fitToPrompt(schema, facts, random);
    return { content: JSON.stringify(drawValue(fitted, random)), refusal: null };
  } catch (error) {
    if (!(error instanceof SchemaNotDrawable)) throw error;
    return { content: null, refusal: `The sampler found no value of the schema: ${error.message}.` };
  }
}

/** Roughly, as nothing here has words. */
const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** @throws what is no refusal: a defect ends the connection, and the client sees it as a server that failed */
function refuse(response: ServerResponse, error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
  const { message, status } = error;
  send(response, status, { error: { message, type: 'invalid_request_error', param: null, code: null } });
}

function send(response: ServerResponse, status: number, body: JsonObject): void {
  // What was not read of a refused request would be taken for the next one.
  const connection = status === 413 ? { connection: 'close' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...connection }).end(JSON.stringify(body));
}

/** Starts the sampler's server and gives the model that it serves (docs/adr/0018). */
export async function startSampler(resources: Resources): Promise<Model> {
  const { baseUrl, apiKey } = resources.use('sampler', await startSamplerServer());
  return {
    record: {
      modelId: SAMPLER_MODEL,
      modelDisplayName: 'Orrery sampler',
      modelDescription:
        'A sampler for trying things out, and no language model: it draws values that fit the requested schema at random and understands nothing of the prompt.',
      contextLength: 131_072,
      attestationSupported: false,
      verifiable: false,
      isDefault: true,
    },
    baseUrl,
    apiKey,
    upstreamModel: SAMPLER_MODEL,
    inputUsdPerMillionTokens: 0,
    outputUsdPerMillionTokens: 0,
    timeoutMs: 10_000,
  };
}
