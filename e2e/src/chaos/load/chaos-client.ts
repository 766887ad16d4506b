import { Agent } from 'node:http';
import type { ApiAnswer } from '../../api/api-client.js';
import { createAnswerCheck } from '../../api/check-answer.js';
import { type Asked, type Reply, send } from '../../load/send.js';
import type { Random } from '../plan/random.js';

export interface ChaosClient extends Disposable {
  /** Sends a request once, to any gateway, and never again. */
  ask(asked: Asked): Promise<Reply>;
  /** Answers that break the contract. */
  readonly wrong: readonly string[];
  /** Answers with status 500. */
  readonly internal: readonly InternalAnswer[];
}

export interface InternalAnswer {
  /** `2026-11-23T10:00:00.000Z POST /api/…` */
  readonly request: string;
  readonly requestId: string;
  readonly body: unknown;
}

export interface ChaosClientOptions {
  /** Of the gateways. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly random: Random;
  /** When a client gives up, in milliseconds; later than the gateway's own deadlines. */
  readonly patienceMs: number;
}

/** A client that remembers everything that nobody should ever be answered. */
export function chaosClient({ urls, key, random, patienceMs }: ChaosClientOptions): ChaosClient {
  const agent = new Agent({ keepAlive: true });
  const check = createAnswerCheck();
  const wrong: string[] = [];
  const internal: InternalAnswer[] = [];
  const note = ({ method, path }: Asked, answer: ApiAnswer) => {
    const { status, headers, body } = answer;
    const request = `${new Date().toISOString()} ${method} ${path}`;
    if (status === 500) internal.push({ request, requestId: headers.get('x-request-id') ?? '', body });
    try {
      check(method, path.split('?', 1)[0] ?? path, answer);
    } catch (error) {
      wrong.push((error as Error).message);
    }
  };
  return {
    wrong,
    internal,
    ask: async (asked) => {
      const sent = { ...asked, headers: { authorization: `Bearer ${key}`, ...asked.headers } };
      const reply = await send(agent, random.anyOf(urls), sent, AbortSignal.timeout(patienceMs));
      if ('answer' in reply) note(asked, reply.answer);
      return reply;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
