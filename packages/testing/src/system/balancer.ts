import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { systemClock } from '@orrery/service-kit';
import { type Listening, listen } from '../servers/listen.js';

/** A server that takes connections while its health page says so. */
export interface BalancedServer {
  readonly port: number;
  /** Whether it was ready when it was asked last. */
  isReady(): boolean;
}

/**
 * Gives connections to the servers that are ready, in turns, and to the next one where a server refuses: a load balancer of
 * TCP (level 4), which neither reads requests nor repeats any. While none is ready it tries them all, as others do: a pause of
 * the whole machine makes each of them say so for a moment.
 */
export function startBalancer(servers: () => readonly BalancedServer[]): Promise<Listening> {
  let turn = 0;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    ignoreErrors(client);
    const all = servers();
    const ready = all.filter((one) => one.isReady());
    const taking = ready.length > 0 ? ready : all;
    turn += 1;
    const from = turn % Math.max(1, taking.length);
    void join(client, [...taking.slice(from), ...taking.slice(0, from)]);
  });
  return listen(server);
}

/** Joins a client to the first server that takes the connection; without any the client is cut off. */
async function join(client: Socket, servers: readonly BalancedServer[]): Promise<void> {
  for (const { port } of servers) {
    const socket = await connected(port);
    if (socket === undefined) continue;
    ignoreErrors(socket);
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

/** What went wrong shows at the other end. */
const ignoreErrors = (socket: Socket): Socket => socket.on('error', () => undefined);

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
