import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server between a reader and `url`, which asks for something else where the reader asks for this. */
export async function startMirror(url: string, asked: string, instead: string) {
  const server = createServer(async ({ url: path = '', headers }, reply) => {
    const { authorization = '' } = headers;
    const answer = await fetch(`${url}${path.replace(asked, instead)}`, { headers: { authorization } });
    reply.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => void server.close().closeAllConnections(),
  };
}
