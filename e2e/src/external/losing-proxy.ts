import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface LosingProxy extends AsyncDisposable {
  readonly url: string;
  /** Answers that were lost so far. */
  readonly lost: number;
}

/** Passes requests on to a server, and breaks the connection instead of passing on its first answers. */
export async function startLosingProxy(target: string, losses: number): Promise<LosingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let lost = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    const end = () => void [client, server].map((socket) => socket.destroy());
    for (const socket of [client, server]) sockets.add(socket.on('error', end).on('close', end));
    client.pipe(server);
    server.on('data', (bytes) => {
      if (lost === losses) return void client.write(bytes);
      lost += 1;
      end();
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    get lost() {
      return lost;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
