import { connect, createServer } from 'node:net';
import { listen } from '@orrery/testing/servers';

export interface LosingProxy extends AsyncDisposable {
  readonly url: string;
  /** Answers that were lost so far. */
  readonly lost: number;
}

/** Passes requests on to a server, and breaks the connection instead of passing on its first answers. */
export async function startLosingProxy(target: string, losses: number): Promise<LosingProxy> {
  const { hostname, port } = new URL(target);
  let lost = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    const end = () => void [client, server].map((socket) => socket.destroy());
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    client.pipe(server);
    server.on('data', (bytes) => {
      if (lost === losses) return void client.write(bytes);
      lost += 1;
      end();
    });
  });
  const listening = await listen(proxy);
  return {
    ...listening,
    get lost() {
      return lost;
    },
  };
}
