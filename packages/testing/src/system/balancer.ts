import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { systemClock } from '@orrery/service-kit';

/** A server that takes connections while its health page says so. */
export interface BalancedServer {
  readonly port: number;
  /** Whether it was ready when it was asked last. */
  isReady(): boolean;
}

export interface Balancer extends AsyncDisposable {
  readonly url: string;
}

/**
 * Gives connections to the servers that are ready, in turns, and to the next one where a server refuses: a load balancer of
 * TCP (level 4), which neither reads requests nor repeats any.
 */
export async function startBalancer(servers: () => readonly BalancedServer[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    hold(open, client);
    const ready = servers().filter((one) => one.isReady());
    turn += 1;
    const from = turn % Math.max(1, ready.length);
    void join(open, client, [...ready.slice(from), ...ready.slice(0, from)]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      if (server.listening) await once(server, 'close');
    },
  };
}

/** Joins a client to the first server that takes the connection; without any the client is cut off. */
async function join(open: Set<Socket>, client: Socket, servers: readonly BalancedServer[]): Promise<void> {
  for (const { port } of servers) {
    const socket = await connected(port);
    if (socket === undefined) continue;
    hold(open, socket);
    client.on('close', () => socket.destroy());
    socket.on('close', () => client.destroy());
    client.pipe(socket);
    socket.pipe(client);
    return;
  }
  client.destroy();
}

async function connected(port: number): Promise<Socket | undefined> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return undefined;
  }
}

function hold(open: Set<Socket>, socket: Socket): void {
  open.add(socket);
  // What went wrong shows at the other end.
  socket.on('error', () => undefined).on('close', () => open.delete(socket));
}

/** Asks a health page again and again, as a load balancer does, until the signal aborts. */
export function watchReadiness(url: string, signal: AbortSignal): () => boolean {
  let isReady = false;
  const watch = async () => {
    for (; !signal.aborted; await systemClock.sleep(READINESS_MS, signal).catch(() => undefined))
      isReady = await isOk(`${url}/readyz`);
  };
  void watch();
  return () => isReady;
}

const READINESS_MS = 100;

/** Whether a page answers with success. */
export const isOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    (answer) => answer.ok,
    () => false,
  );
