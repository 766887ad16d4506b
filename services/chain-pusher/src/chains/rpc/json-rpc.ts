import type { Cancellation } from '@orrery/contracts';
import { createTracer, inCallSpan } from '@orrery/service-kit';
import { ServersAway } from '../../core/chains/chain-port.js';

/** A JSON-RPC error that a server answered. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';

  constructor(
    message: string,
    readonly data: unknown,
  ) {
    super(message);
  }
}

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

/** Calls of one batch, to one server: answers in the order of the calls, an RpcFailure for an error that it answered. */
export type RpcBatch = (calls: readonly RpcCall[], signal: Cancellation) => Promise<(unknown | RpcFailure)[]>;

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
const BATCH = 50;

/**
 * JSON-RPC 2.0 over HTTP, in batches. Each batch goes to the first server that answers, in the order of the list. (viem's
 * transports would repeat on the next server what a server has answered with an error.)
 */
export const createRpc =
  (urls: readonly string[], timeoutMs = TIMEOUT_MS): RpcBatch =>
  async (calls, signal) => {
    const results: (unknown | RpcFailure)[] = [];
    for (let from = 0; from < calls.length; from += BATCH) {
      results.push(...(await firstAnswer(urls, calls.slice(from, from + BATCH), signal, timeoutMs)));
    }
    return results;
  };

async function firstAnswer(
  urls: readonly string[],
  calls: readonly RpcCall[],
  signal: Cancellation,
  timeoutMs: number,
): Promise<(unknown | RpcFailure)[]> {
  let failure: unknown;
  for (const url of urls) {
    signal.throwIfAborted();
    try {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      return await traced(url, calls, () => post(url, calls, inTime));
    } catch (error) {
      failure = error;
    }
  }
  signal.throwIfAborted();
  throw new ServersAway('no RPC server of the chain answers', { cause: failure });
}

function traced<T>(url: string, calls: readonly RpcCall[], work: () => Promise<T>): Promise<T> {
  const method = [...new Set(calls.map((call) => call.method))].join(' ');
  const attributes = { 'rpc.system.name': 'jsonrpc', 'rpc.method': method };
  return inCallSpan(createTracer('chain-pusher'), method, { url, attributes }, work);
}

async function post(
  url: string,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<(unknown | RpcFailure)[]> {
  const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw new Error(`the server answered with status ${response.status}`);
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

/** Too many requests, and a server that has lost its own backend: another server may answer. */
const PASSING = new Set([-32005, -32603, 429]);

function failureOf({ code, message: said, data }: NonNullable<Reply['error']>): RpcFailure {
  const message = sayable(said);
  if (PASSING.has(code ?? 0) && !/revert|nonce|funds|underpriced|known/i.test(message))
    throw new Error(message);
  return new RpcFailure(message, data);
}

/** A server's words as they can be stored and shown. */
const sayable = (said: unknown): string =>
  (typeof said === 'string' ? said.slice(0, MAX_MESSAGE) : '')
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim() || 'an error without a message';
