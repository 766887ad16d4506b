import { createMeter } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';
import type { OnRequestEnd } from '../http/request-ends.js';

/** Counts and times requests by route pattern, never by path: paths hold names. */
export function addSignals(app: FastifyInstance, onRequestEnd: OnRequestEnd): void {
  const meter = createMeter('gateway');
  const duration = meter.createHistogram('orrery_http_request_duration', { unit: 'ms' });
  const underWay = meter.createUpDownCounter('orrery_http_requests_under_way');
  app.addHook('onRequest', (_request, _reply, done) => {
    underWay.add(1);
    done();
  });
  onRequestEnd((request, reply, { ms, route = 'unknown' }) => {
    underWay.add(-1);
    duration.record(ms, { method: request.method, route, status: reply.statusCode });
  });
}
