import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { holding } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import type { Exchange } from '@orrery/testing/system';
import { startPrism } from '../external/start-prism.js';
import { askAgain, endToEnd, NUMBER } from './ask-again.js';

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
    const upstream = serveAnswers(underWay);
    resources.add('answers', () => upstream.close().closeAllConnections());
    await once(upstream, 'listening');
    const { port, prism } = await startPrism(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
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
          ({ location: [place] }) => place !== 'request' || exchange.answer.status < 400,
        );
      },
    };
  }, PATIENT);
}

function serveAnswers(underWay: Map<string, Exchange>): Server {
  const server = createServer((asked, reply) => {
    const number = String(asked.headers[NUMBER]);
    const answer = underWay.get(number)?.answer;
    underWay.delete(number);
    asked.resume();
    if (answer === undefined) return void reply.writeHead(404).end();
    reply.writeHead(answer.status, endToEnd(answer.headers)).end(answer.body);
  });
  return server.listen(0, '127.0.0.1');
}

/** Prism cuts what is too long for a header. */
function violationsIn(header: string | undefined): Violation[] {
  if (header === undefined) return [];
  return header.startsWith('[') ? JSON.parse(header) : [{ location: [], message: header }];
}
