import type { FastifyInstance } from 'fastify';

/**
 * While the application closes, every answer ends its connection: otherwise a kept-alive one would be waited for until
 * it times out. What was accepted is answered.
 */
export function addDraining(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close');
    done();
  });
}
