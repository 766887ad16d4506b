import { Agent } from 'node:http';
import { type ApiAnswer, type ApiClient, clientOf } from '../api/api-client.js';
import { type Answering, createAnswerCheck } from '../api/check-answer.js';
import { type Asked, send } from './send.js';

export interface PooledClient extends ApiClient, Disposable {
  /** How often a request was sent again because its connection had been closed while it was idle. */
  resent(): number;
}

/**
 * A client with a pool of connections that stay open. A server may close an idle one just when a request is sent on it: that
 * request is sent again on a new connection. Everything else that goes wrong is thrown.
 */
export function pooledClient(
  url: string,
  key: string,
  connections: number,
  answering?: Answering,
): PooledClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const check = createAnswerCheck(answering);
  let resent = 0;
  const ask = async (asked: Asked): Promise<ApiAnswer> => {
    const reply = await send(agent, url, asked);
    if ('answer' in reply) return reply.answer;
    if (!reply.wasIdle) throw reply.cause;
    resent += 1;
    return ask(asked);
  };
  const client = clientOf(async (method, path, body, given) => {
    const headers = { authorization: `Bearer ${key}`, ...given };
    const answer = await ask({ method, path, body, headers });
    check(method, path.split('?', 1)[0] ?? path, answer);
    return answer;
  });
  return { ...client, resent: () => resent, [Symbol.dispose]: () => agent.destroy() };
}
