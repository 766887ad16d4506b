import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How long a connection that has never said anything may hold up the end, in milliseconds: a request may be on its way. */
const SILENCE_MS = 500;

/**
 * While the application closes, every answer ends its connection: otherwise a kept-alive one would be waited for until
 * it times out. What was accepted is answered. Connections that browsers and pools open in advance are no requests.
 */
export function addDraining(app: FastifyInstance): void {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
    const endSilent = () => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    setTimeout(endSilent, SILENCE_MS).unref();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close');
    done();
  });
}
