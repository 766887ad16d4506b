import type { Health } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';

/** `/healthz`: the process runs. `/readyz`: what it needs answers; 503 tells a balancer to send requests elsewhere. */
export function addHealthRoutes(app: FastifyInstance, health: Health): void {
  app.get('/healthz', async () => health.liveness());
  app.get('/readyz', async (_request, reply) => {
    const readiness = await health.readiness();
    return reply.code(readiness.status === 'unavailable' ? 503 : 200).send(readiness);
  });
}
