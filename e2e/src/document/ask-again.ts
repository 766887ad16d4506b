import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Exchange } from '@orrery/testing/system';
import { operationOf } from './operation-of.js';

/** The header by which the answer to a request is found again. */
export const NUMBER = 'x-recorded-exchange';
/** What belongs to a connection, not to an exchange (RFC 9110 §7.6.1). */
const HOP_BY_HOP = ['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding', 'upgrade'];

type Request = Omit<Exchange, 'answer'>;

/** Sends a recorded request to a validating proxy; what the proxy says of violations, `undefined` for nothing. */
export async function askAgain(
  port: number,
  number: string,
  exchange: Exchange,
): Promise<string | undefined> {
  const { method, url, headers, body } = requestOf(exchange);
  const sent = { ...endToEnd(headers), [NUMBER]: number };
  const asked = request({ host: '127.0.0.1', port, method, path: url, headers: sent, agent: false });
  const [told] = (await once(asked.end(body), 'response')) as [IncomingMessage];
  await text(told);
  return told.headers['sl-violations']?.toString();
}

/** An answer is judged by its operation: what a refused request held may be more than the proxy can read. */
function requestOf(exchange: Exchange): Request {
  const operation = exchange.answer.status < 400 ? undefined : operationOf(exchange);
  if (operation === undefined) return exchange;
  const { method, path } = operation.http;
  return { method, url: path.replaceAll(/:\w+/g, 'any'), headers: {}, body: '' };
}

export function endToEnd(headers: Exchange['headers']): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}
