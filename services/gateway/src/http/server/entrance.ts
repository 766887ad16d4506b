import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance } from 'fastify';
import { wantsPage } from '../request/wants-page.js';

/** Leads a browser that asks for `/` to a page. Programs hear what they hear of any path that is not there. */
export function addEntrance(app: FastifyInstance, page: string): void {
  app.get('/', async ({ headers }, reply) => {
    if (!wantsPage(headers.accept)) throw new ServiceError('route_not_found');
    return reply.redirect(page);
  });
}
