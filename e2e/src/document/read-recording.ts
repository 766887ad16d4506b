import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exchange } from '@orrery/testing/system';
import { operationAt, type RoutedOperation } from '../api/routed-operations.js';

/** Every exchange that was recorded in a folder, one after the other. */
export async function* readRecording(folder: string): AsyncGenerator<Exchange> {
  for (const name of await readdir(folder)) {
    // What follows the last end of a line is nothing, or what a process was writing when it was killed.
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n').slice(0, -1);
    for (const line of lines) yield JSON.parse(line);
  }
}

/** The path of a recorded request, without its query, in the origin or the absolute form (RFC 9112 §3.2). */
export const pathOf = ({ url }: Exchange): string =>
  url.replace(/^https?:\/\/[^/]*/, '').replace(/\?.*$/s, '');

/** The operation that a recorded request addresses. */
export const operationOf = (exchange: Exchange): RoutedOperation | undefined =>
  operationAt(exchange.method, pathOf(exchange));

const PAGES = [
  '/',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/llms.txt',
  '/docs',
  '/console',
  '/play',
];
/** A server of its own in the process of the embedded default. */
const SAMPLER = '/v1/chat/completions';
/** That of `npm run local-payments`. */
const FACILITATOR = ['/supported', '/verify', '/settle'];

/** Why an exchange is nothing for a judge of the documented operations; `undefined` where it is. */
export function whyLeftOut(exchange: Exchange): string | undefined {
  const { headers, answer } = exchange;
  const path = pathOf(exchange);
  if (String(answer.headers['content-type']).startsWith('text/event-stream')) return 'a stream has no end';
  // Without a host, or with an expectation that it does not know.
  if (headers['host'] === undefined || answer.status === 417)
    return 'Node refuses it before the gateway sees it';
  if (operationOf(exchange) !== undefined) return undefined;
  if (PAGES.includes(path) || /^\/(docs|console|play)\//.test(path)) return 'a page beside the operations';
  if (/^\/mcp(\/|$)/.test(path)) return 'a message of the Model Context Protocol, which describes itself';
  if (path === SAMPLER) return 'a question to the sampler';
  if (FACILITATOR.includes(path)) return 'a question to the facilitator';
  return answer.status >= 400 ? 'refused where the document has no operation' : undefined;
}
