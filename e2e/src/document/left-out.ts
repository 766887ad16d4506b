import type { Exchange } from '@orrery/testing/system';
import { operationOf, pathOf } from './operation-of.js';

const PAGES = ['/', '/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/console'];
/** A server of its own in the process of the embedded default. */
const SAMPLER = '/v1/chat/completions';
/** That of `npm run local-payments`. */
const FACILITATOR = ['/supported', '/verify', '/settle'];

/** Why an exchange is nothing for a validator of the documented operations; `undefined` where it is. */
export function whyLeftOut(exchange: Exchange): string | undefined {
  const { headers, url, answer } = exchange;
  if (String(answer.headers['content-type']).startsWith('text/event-stream')) return 'a stream has no end';
  // Without a host, or with an expectation that it does not know.
  if (headers['host'] === undefined || answer.status === 417)
    return 'Node refuses it before the gateway sees it';
  if (operationOf(exchange) !== undefined) return undefined;
  if (PAGES.includes(pathOf(url)) || /^\/(docs|console)\//.test(pathOf(url)))
    return 'a page beside the operations';
  if (pathOf(url) === SAMPLER) return 'a question to the sampler';
  if (FACILITATOR.includes(pathOf(url))) return 'a question to the facilitator';
  return answer.status >= 400 ? 'refused where the document has no operation' : undefined;
}
