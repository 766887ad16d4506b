import { Agent } from 'node:http';
import { type Asked, type Reply, send } from './send.js';

/**
 * Clients that ask one after the other over connections that stay open, until one is refused.
 * @param next the next request
 */
export async function keepAsking(url: string, clients: number, next: () => Asked): Promise<Reply[]> {
  const replies: Reply[] = [];
  const ask = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (;;) {
      const reply = await send(agent, url, next());
      replies.push(reply);
      if (!('answer' in reply) || reply.answer.status === 503) break;
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, ask));
  return replies;
}

/**
 * A request that was taken and has no whole answer. A closed idle connection is no loss: nothing of a request was read on
 * it (RFC 9112 §9.6), which is seen by asking once more on a new connection.
 */
export function isLost(reply: Reply): boolean {
  if ('answer' in reply) return reply.answer.status !== 200 && reply.answer.status !== 503;
  return reply.broken !== 'ECONNREFUSED' && !reply.wasIdle;
}
