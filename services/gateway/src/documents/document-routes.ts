import type { FastifyInstance } from 'fastify';

/** `/openapi.json`. It is written at its first use and kept: that takes longer than the rest of a start. */
export function addDocumentRoute(app: FastifyInstance, makeDocument: () => object): void {
  let bytes: Buffer | undefined;
  app.get('/openapi.json', async (_request, reply) => {
    bytes ??= Buffer.from(JSON.stringify(makeDocument()));
    return reply.headers(HEADERS).send(bytes);
  });
}

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'public, max-age=300',
};
