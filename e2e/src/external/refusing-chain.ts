import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '@orrery/testing/servers';

/** A node of a chain that hands everything on to another, but refuses transactions while it is told to. */
export interface RefusingChain extends AsyncDisposable {
  readonly url: string;
  isRefusing: boolean;
}

interface RpcRequest {
  readonly id: number;
  readonly method: string;
}

export async function startRefusingChain(upstream: string): Promise<RefusingChain> {
  const answer = async (request: RpcRequest): Promise<unknown> => {
    if (chain.isRefusing && request.method === 'eth_sendRawTransaction')
      return { jsonrpc: '2.0', id: request.id, error: { code: -32000, message: 'exceeds block gas limit' } };
    const headers = { 'content-type': 'application/json' };
    return (await fetch(upstream, { method: 'POST', headers, body: JSON.stringify(request) })).json();
  };
  const server = createServer(async (message, reply) => {
    const body = (await json(message)) as RpcRequest | RpcRequest[];
    const answers = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body);
    reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers));
  });
  const listening = await listen(server);
  const chain: RefusingChain = { ...listening, isRefusing: false };
  return chain;
}
