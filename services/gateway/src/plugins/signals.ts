import { createMeter } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';

/** Counts and times requests by route pattern, never by path: paths hold names. */
export function addSignals(app: FastifyInstance): void {
  const meter = createMeter('gateway');
  const duration = meter.createHistogram('orrery_http_request_duration', { unit: 'ms' });
  const underWay = meter.createUpDownCounter('orrery_http_requests_under_way');
  app.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    underWay.add(1);
    reply.raw.once('close', () => {
      underWay.add(-1);
      const route = request.routeOptions.url ?? 'unknown';
      const labels = { method: request.method, route, status: reply.statusCode };
      duration.record(performance.now() - startedAt, labels);
    });
    done();
  });
}
