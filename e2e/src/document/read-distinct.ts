import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exchange } from '@orrery/testing/system';
import { firstOfItsKind, operationOf, pathOf } from './first-of-its-kind.js';

/** What is there to be judged in a recording. */
export interface Recording {
  readonly distinct: readonly Exchange[];
  /** How many exchanges there are, are left out and why, and are distinct: for a reader. */
  readonly figures: string;
}

/** Reads the exchanges of a folder and keeps those that a validator could judge differently. */
export async function readDistinct(folder: string): Promise<Recording> {
  const isFirst = firstOfItsKind();
  const distinct: Exchange[] = [];
  const leftOut = new Map<string, number>();
  let seen = 0;
  for await (const exchange of readRecording(folder)) {
    seen += 1;
    const why = whyLeftOut(exchange);
    if (why !== undefined) leftOut.set(why, (leftOut.get(why) ?? 0) + 1);
    else if (isFirst(exchange)) distinct.push(exchange);
  }
  const without = [...leftOut].map(([why, count]) => `${count} left out (${why})`);
  return { distinct, figures: [`${seen} exchanges`, ...without, `${distinct.length} distinct`].join(', ') };
}

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

/** Every exchange that was recorded in a folder, one after the other. */
export async function* readRecording(folder: string): AsyncGenerator<Exchange> {
  for (const name of await readdir(folder)) {
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n');
    for (const line of lines) if (line !== '') yield JSON.parse(line);
  }
}
