import { createTracer, inCallSpan } from '@orrery/service-kit';
import { ServersAway } from '../../core/chains/chain-port.js';

/** A JSON-RPC error that a server answered. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';

  /** @param code of the server's error, or the status of its response */
  constructor(
    message: string,
    readonly code: number,
    readonly data?: unknown,
  ) {
    super(message);
  }

  /** The server takes nothing at present: it is asked too much, or has not caught up. */
  get isBusy(): boolean {
    const isLimit = this.code === LIMIT_EXCEEDED || this.code === TOO_MANY_REQUESTS;
    return isLimit || RATE_LIMIT.test(this.message);
  }

  /** Another server may answer: this one is busy, or has lost its own backend. */
  get isPassing(): boolean {
    const isOfServer = this.isBusy || this.code === INTERNAL_ERROR;
    return isOfServer && !/revert|nonce|funds|underpriced|known/i.test(this.message);
  }
}

/** For how long the server that answered last is asked first, in milliseconds: one that hangs is waited for no more often. */
const STAY_MS = 30_000;

/** Servers have codes of their own for it. */
const RATE_LIMIT = /rate.?limit|request (limit|rate)|too many requests?|per second/i;
const LIMIT_EXCEEDED = -32005;
const INTERNAL_ERROR = -32603;
const TOO_MANY_REQUESTS = 429;

/** A height, a slot, a count of a chain: 0 to 2^53 - 1. @throws ServersAway: a server that answers else cannot be believed */
export function countFrom(answer: unknown): number {
  const count = typeof answer === 'string' || typeof answer === 'number' ? Number(answer) : Number.NaN;
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new ServersAway('an RPC server answers with a number that no chain has');
}

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export const call = (method: string, ...params: unknown[]): RpcCall => ({ method, params });

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code?: number; readonly message?: string; readonly data?: unknown };
}

/** A server that does not answer within this time counts as away, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Answers of one batch are smaller; more is not read. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Of what a server says about a refusal. */
const MAX_MESSAGE = 500;
/** Calls that public servers take in one batch. */
export const BATCH = 50;

/**
 * JSON-RPC 2.0 over HTTP, in batches. Each batch goes to the first server of the list that answers; for a while it is the one
 * that answered last which is asked first. (The batches of viem pair answers with calls by their order: a server that leaves one out would shift all others.)
 * Methods throw ServersAway where no server answers; its cause is an RpcFailure where one refused.
 */
export class JsonRpc {
  /** The place of the server that answered last, and since when. */
  #last = 0;
  #since = Number.NEGATIVE_INFINITY;

  constructor(private readonly urls: readonly string[]) {}

  /** In the order of the calls; an RpcFailure for an error that the server answered, unless it is passing. */
  async answers(calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]> {
    const answers = await this.answersOfAny(calls, signal);
    const passing = answers.find(isPassing);
    if (passing !== undefined) throw away(passing);
    return answers;
  }

  /** As `answers`, for calls that servers may refuse in any words: where all of them answered, also failures that are passing. */
  async answersOfAny(calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]> {
    const answers: unknown[] = [];
    for (let from = 0; from < calls.length; from += BATCH)
      answers.push(...(await this.#firstAnswers(calls.slice(from, from + BATCH), signal)));
    return answers;
  }

  /** @throws RpcFailure where a server answers any of the calls with an error */
  async results(calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]> {
    const answers = await this.answers(calls, signal);
    for (const answer of answers) if (answer instanceof RpcFailure) throw answer;
    return answers;
  }

  /** The result of one call. @throws RpcFailure */
  async ask<T>(signal: AbortSignal, method: string, ...params: unknown[]): Promise<T> {
    const [result] = await this.results([call(method, ...params)], signal);
    return result as T;
  }

  async #firstAnswers(calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]> {
    let refused: unknown[] | undefined;
    let failure: unknown;
    for (const at of this.#order()) {
      signal.throwIfAborted();
      try {
        const answers = await this.#ask(at, calls, signal);
        if (!answers.some(isPassing)) return answers;
        refused ??= answers;
      } catch (error) {
        failure = failure instanceof RpcFailure ? failure : error;
      }
    }
    signal.throwIfAborted();
    if (refused !== undefined && failure === undefined) return refused;
    throw away(refused?.find(isPassing) ?? failure);
  }

  async #ask(at: number, calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]> {
    const url = this.urls[at] ?? '';
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const answers = await traced(url, calls, () => post(url, calls, inTime));
    if (at !== this.#first()) [this.#last, this.#since] = [at, performance.now()];
    return answers;
  }

  /** Where to begin: one that answers may be stalled, or of another chain, and the list is in the operator's order. */
  #first(): number {
    return performance.now() - this.#since < STAY_MS ? this.#last : 0;
  }

  /** The places of the servers, as they are asked. */
  #order(): number[] {
    const first = this.#first();
    return this.urls.map((_, at) => (first + at) % this.urls.length);
  }
}

const isPassing = (answer: unknown): boolean => answer instanceof RpcFailure && answer.isPassing;

const away = (cause: unknown) => new ServersAway('no RPC server of the chain answers', { cause });

function traced<T>(url: string, calls: readonly RpcCall[], work: () => Promise<T>): Promise<T> {
  const method = [...new Set(calls.map((one) => one.method))].join(' ');
  const attributes = { 'rpc.system.name': 'jsonrpc', 'rpc.method': method };
  return inCallSpan(createTracer('chain-pusher'), method, { url, attributes }, work);
}

async function post(url: string, calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]> {
  const body = calls.map((one, id) => ({ jsonrpc: '2.0', id, ...one }));
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw failureOfStatus(response.status);
  const replies = JSON.parse(await boundedText(response)) as Reply[];
  if (!Array.isArray(replies)) throw new Error('the server does not take batches');
  const byId = new Map(replies.map((reply) => [reply.id, reply]));
  return calls.map((_, id) => {
    const reply = byId.get(id);
    if (reply === undefined) throw new Error('the server left an answer out');
    return reply.error === undefined ? reply.result : failureOf(reply.error);
  });
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the server answers with too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const failureOf = ({ code = 0, message, data }: NonNullable<Reply['error']>): RpcFailure =>
  new RpcFailure(sayable(message), code, data);

/** A server that finds fault with the request has answered; any other status says nothing of it. */
function failureOfStatus(status: number): Error {
  const message = `the server answered with status ${status}`;
  const isRefusal = status >= 400 && status < 500 && status !== TOO_MANY_REQUESTS;
  return isRefusal ? new RpcFailure(message, status) : new Error(message);
}

/** A server's words as they can be stored and shown. */
const sayable = (said: unknown): string =>
  (typeof said === 'string' ? said.slice(0, MAX_MESSAGE) : '')
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim() || 'an error without a message';
