import { Agent, request } from 'node:http';

/** How one request ended: `refused` before anything of it was taken. */
export type Outcome =
  | { kind: 'answered'; status: number }
  | { kind: 'refused' }
  | { kind: 'lost'; why: string };

/**
 * Clients that ask one after the other over connections that stay open, until one is refused. A closed idle connection is
 * no loss: nothing of a request was read on it (RFC 9112 §9.6), which is seen by asking once more on a new connection.
 */
export async function keepAsking(
  clients: number,
  send: (agent: Agent) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  await Promise.all(
    Array.from({ length: clients }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (;;) {
        const outcome = await send(agent);
        outcomes.push(outcome);
        if (outcome.kind !== 'answered' || outcome.status === 503) break;
      }
      agent.destroy();
    }),
  );
  return outcomes;
}

/** Sends a POST and reads its answer to the end. */
export function post(agent: Agent, url: string, key: string, body: unknown): Promise<Outcome> {
  const text = JSON.stringify(body);
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    };
    const asked = request(url, { method: 'POST', agent, headers }, (answer) => {
      let received = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        received += part;
      });
      answer.on('error', (error) => resolve({ kind: 'lost', why: error.message }));
      answer.on('end', () => {
        const status = answer.statusCode ?? 0;
        resolve(isJson(received) ? { kind: 'answered', status } : { kind: 'lost', why: `half: ${received}` });
      });
    });
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // Refused at the door, or sent into a connection that had been idle and closed.
      const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      const isRefused = error.code === 'ECONNREFUSED' || (isClosed && asked.reusedSocket);
      resolve(isRefused ? { kind: 'refused' } : { kind: 'lost', why: String(error) });
    });
    asked.end(text);
  });
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
