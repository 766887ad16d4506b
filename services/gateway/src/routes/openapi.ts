import type { FastifyInstance } from 'fastify';
import { whenAsked } from './when-asked.js';

/** Serves the document as it is: written once, sent as bytes. */
export function addOpenApiRoute(app: FastifyInstance, document: () => Record<string, unknown>): void {
  const text = whenAsked(() => JSON.stringify(document()));
  app.get('/openapi.json', async (_request, reply) =>
    reply
      .headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300' })
      .send(text()),
  );
}
