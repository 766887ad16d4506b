import type { CallToolResult } from '@modelcontextprotocol/server';
import {
  asServiceError,
  ERRORS,
  type JsonObject,
  ServiceError,
  type SettlementResponse,
} from '@orrery/contracts';
import { problemOf } from '../core/problems/problem.js';
import { logFault } from '../http/errors/error-replies.js';
import type { Exchange, McpContext } from './exchange.js';

/** In which member of `_meta` a payment comes and its settlement is told (x402 version 2, MCP transport). */
export const PAYMENT = 'x402/payment';
const SETTLEMENT = 'x402/payment-response';
/** Where the client of Cloudflare's Agents SDK looks for what a call costs. */
const DEMAND = 'x402/error';

const textOf = (structured: object): CallToolResult['content'] => [
  { type: 'text', text: JSON.stringify(structured) },
];

/** Characters of an answer: the protocol's package writes it several times over, and no model reads more. */
export const MOST_ANSWERED = 1024 * 1024;

/** @throws `page_too_deep` */
export function refuseLarge(text: string): void {
  if (text.length <= MOST_ANSWERED) return;
  throw new ServiceError(
    'page_too_deep',
    `The answer has more than ${MOST_ANSWERED / 1024} KiB, which no agent is sent at once: use a smaller limit, or HTTP.`,
  );
}

/** What a tool answers, for programs and as text. */
export function toolResult(answer: object, settlement: SettlementResponse | null = null): CallToolResult {
  const meta = settlement === null ? {} : { _meta: { [SETTLEMENT]: settlement.response } };
  return { content: textOf(answer), structuredContent: answer as JsonObject, ...meta };
}

/** A refusal: the problem document, or where it is about money what x402 asks for. A model reads it and may do better. */
function toolRefusal(error: ServiceError, where: { instance: string; requestId: string }): CallToolResult {
  const { paymentRequired } = error.facts;
  const isUnpaid = ERRORS[error.code].status === 402 && paymentRequired !== undefined;
  const shown = isUnpaid
    ? { ...(paymentRequired as JsonObject), error: error.message, code: error.code }
    : problemOf(error, where);
  const structured = shown as unknown as JsonObject;
  const meta = isUnpaid ? { _meta: { [DEMAND]: structured } } : {};
  return { content: textOf(shown), structuredContent: structured, isError: true, ...meta };
}

/** A refusal is a result of the tool, which a model reads, and no error of the protocol. */
export const answering = (
  exchange: Pick<Exchange, 'http'>,
  context: Pick<McpContext, 'logger'>,
  answer: () => Promise<CallToolResult>,
): Promise<CallToolResult> =>
  loggingFaults(exchange, context, answer).catch((error: unknown) =>
    toolRefusal(asServiceError(error), { instance: exchange.http.url, requestId: exchange.http.id }),
  );

/** The protocol's package answers errors and tells nobody. @throws ServiceError */
export async function loggingFaults<T>(
  { http }: Pick<Exchange, 'http'>,
  { logger }: Pick<McpContext, 'logger'>,
  answer: () => Promise<T>,
): Promise<T> {
  try {
    return await answer();
  } catch (thrown) {
    const error = asServiceError(thrown);
    logFault(logger, error, http);
    throw error;
  }
}
