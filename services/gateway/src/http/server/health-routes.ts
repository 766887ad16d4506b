import type { Health } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';

/** `/healthz`: the process runs. `/readyz`: its dependencies answer; with 503 a load balancer sends requests elsewhere. */
export function addHealthRoutes(app: FastifyInstance, health: Health): void {
  app.get('/healthz', async () => health.liveness());
  app.get('/readyz', async (_request, reply) => {
    const readiness = await health.readiness();
    return reply.code(readiness.status === 'unavailable' ? 503 : 200).send(readiness);
  });
}
