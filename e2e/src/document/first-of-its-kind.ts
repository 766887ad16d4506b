import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Exchange, repositoryRoot } from '@orrery/testing/system';
import { operationAt, type RoutedOperation } from '../api/routed-operations.js';
import { type TellApart, tellApartBy } from './tell-apart.js';

/** Says whether an exchange is the first that a validator of the committed `openapi.json` must judge as it does. */
export function firstOfItsKind(): (exchange: Exchange) => boolean {
  const document: unknown = JSON.parse(readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8'));
  const tell = tellApartBy(document);
  const seen = new Set<string>();
  return (exchange) => {
    const { status, headers, body } = exchange.answer;
    const answered = [status, tellTexts(tell, headers), tell(jsonOf(body))];
    // Of a refused request only the answer is judged.
    const asked = status < 400 ? tellRequest(tell, exchange) : [];
    const kind = [exchange.method, operationOf(exchange)?.name, ...answered, ...asked].join();
    const isFirst = !seen.has(kind);
    seen.add(kind);
    return isFirst;
  };
}

function tellRequest(tell: TellApart, { url, headers, body }: Exchange): string[] {
  const query = Object.fromEntries(new URL(url, 'http://host').searchParams);
  return [headers, pathOf(url).split('/'), query]
    .map((texts) => tellTexts(tell, texts))
    .concat(tell(jsonOf(body)));
}

/** A text in a path, query or header may stand for a number. */
const tellTexts = (tell: TellApart, texts: object): string =>
  Object.entries(texts)
    .map(([name, text]) => `${name}=${tell(text)}${tell(Number(text))}`)
    .sort()
    .join();

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The operation that a recorded request addresses, in the origin or the absolute form (RFC 9112 §3.2). */
export const operationOf = ({ method, url }: Exchange): RoutedOperation | undefined =>
  operationAt(method, pathOf(url));

/** The path of a recorded request, without its query. */
export const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]*/, '').replace(/\?.*$/s, '');
