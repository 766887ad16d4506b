import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * A way to a PostgreSQL that takes connections and answers none of them while it holds, as one that is too busy. It breaks a
 * connection instead on which `breaksAt` says so of what is sent.
 */
export async function startHoldingProxy(
  databaseUrl: string,
  breaksAt: (sent: string) => boolean = () => false,
) {
  const target = new URL(databaseUrl);
  const folder = target.searchParams.get('host');
  const port = Number(target.port || 5432);
  const open = () =>
    folder === null ? connect(port, target.hostname) : connect(`${folder}/.s.PGSQL.${port}`);
  const sockets = new Set<Socket>();
  let letGo = () => {};
  let held: Promise<void> = Promise.resolve();
  const hold = () => {
    held = new Promise((resolve) => {
      letGo = resolve;
    });
  };
  const server = createServer((client) => {
    void held.then(() => {
      const upstream = open();
      const end = () => void [client, upstream].map((socket) => socket.destroy());
      for (const socket of [client, upstream]) sockets.add(socket.on('error', end).on('close', end));
      client.on('data', (sent: Buffer) => {
        if (breaksAt(sent.toString('latin1'))) client.resetAndDestroy();
      });
      client.pipe(upstream).pipe(client);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    letGo();
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { username, password, pathname } = target;
  const through = new URL(`postgres://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`);
  Object.assign(through, { username, password });
  return { url: through.href, hold, letGo: () => letGo() };
}
