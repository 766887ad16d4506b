import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { holding } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { listen } from '@orrery/testing/servers';
import type { Exchange } from '@orrery/testing/system';
import { startPrism } from '../external/start-prism.js';
import { operationOf } from './first-of-its-kind.js';

/** Something in which an exchange differs from the document, as Prism tells it. */
export interface Violation {
  /** `request` or `response`, then where in it. */
  readonly location: readonly string[];
  readonly message: string;
}

/** Gives exchanges again through a validating proxy: the request to it, the answer from behind it. */
export interface Judge extends AsyncDisposable {
  /** A refused request may break the document, an accepted one may not. */
  violations(exchange: Exchange): Promise<Violation[]>;
}

/** Starts Prism before a server that gives recorded answers. */
export function startJudge(): Promise<Judge> {
  return holding(async (resources) => {
    const underWay = new Map<string, Exchange>();
    const upstream = resources.use('answers', await listen(answering(underWay)));
    const { port, prism } = await startPrism(upstream.url);
    resources.use('prism', prism);
    let last = 0;
    const tellOf = async (exchange: Exchange): Promise<string | undefined> => {
      last += 1;
      const number = String(last);
      underWay.set(number, exchange);
      const told = await askAgain(port, number, exchange);
      // Whoever takes an answer removes it.
      if (underWay.delete(number)) throw new Error('it was not handed on');
      return told;
    };
    return {
      violations: async (exchange: Exchange) => {
        const told = await tellOf(exchange).catch((cause) => {
          throw new Error(`Prism cannot judge ${exchange.method} ${exchange.url}: ${prism.output()}`, {
            cause,
          });
        });
        return violationsIn(told).filter(
          ({ location: [part] }) => part !== 'request' || exchange.answer.status < 400,
        );
      },
    };
  }, PATIENT);
}

const answering = (underWay: Map<string, Exchange>): Server =>
  createServer((asked, reply) => {
    const number = String(asked.headers[NUMBER]);
    const answer = underWay.get(number)?.answer;
    underWay.delete(number);
    asked.resume();
    if (answer === undefined) return void reply.writeHead(404).end();
    reply.writeHead(answer.status, endToEnd(answer.headers)).end(answer.body);
  });

/** Prism cuts what is too long for a header. */
function violationsIn(header: string | undefined): Violation[] {
  if (header === undefined) return [];
  return header.startsWith('[') ? JSON.parse(header) : [{ location: [], message: header }];
}

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
