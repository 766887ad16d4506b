import type { Clock, Health, Logger } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';
import type { KeyVerifier } from './accounts/key-verifier.js';
import { addRoute } from './http/add-route.js';
import { addStreamRoute, type StreamHandler } from './http/add-stream-route.js';
import { createHttp, type HttpLimits } from './http/create-http.js';
import { answerProblems } from './http/error-replies.js';
import { acceptJsonOnly } from './http/json-body.js';
import { watchRequestEnds } from './http/request-ends.js';
import { declarePrincipal } from './http/request-principal.js';
import { recordRoutes } from './http/route-table.js';
import type { CallOperation, RoutedRpc } from './http/routed-rpc.js';
import { answerUnknownRoutes } from './http/unknown-routes.js';
import type { RateLimiter, RatePolicies } from './limits/rate-policy.js';
import { openApiDocument } from './openapi/document.js';
import { requireAccess } from './plugins/access.js';
import { addAccessLog } from './plugins/access-log.js';
import { addAdmission } from './plugins/admission.js';
import { addCors } from './plugins/cors.js';
import { addDraining } from './plugins/draining.js';
import { limitRate } from './plugins/rate-limit.js';
import { addSecurityHeaders } from './plugins/security-headers.js';
import { addSignals } from './plugins/signals.js';
import { addHealthRoutes } from './routes/health.js';
import { addOpenApiRoute } from './routes/openapi.js';
import { addReferenceRoute } from './routes/reference.js';
import { whenAsked } from './routes/when-asked.js';

export interface AppContext {
  call: CallOperation;
  keys: KeyVerifier;
  clock: Clock;
  logger: Logger;
  health: Health;
  limits: HttpLimits;
  /** Requests under way; beyond it new ones are refused. */
  maxInFlight: number;
  limiter: RateLimiter;
  /** Undefined: nothing is limited. */
  rates: RatePolicies | undefined;
  /** How long a call may take, in milliseconds. */
  deadlineMs: number;
  routes: readonly RoutedRpc[];
  /** Serves the routes that are streams. */
  stream: StreamHandler;
  maxStreams: number;
}

/** The HTTP application, apart from the process: tests inject requests into it. */
export function createApp(context: AppContext): FastifyInstance {
  const app = createHttp(context.limits);
  const table = recordRoutes(app);
  declarePrincipal(app);
  acceptJsonOnly(app);
  answerProblems(app, context.logger);
  const onRequestEnd = watchRequestEnds(app);
  // Next, so that whatever has an end has been counted.
  addSignals(app, onRequestEnd);
  addAccessLog(onRequestEnd, context.logger);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  addDraining(app);
  addSecurityHeaders(app);
  addCors(app, table);
  answerUnknownRoutes(app, table);
  const admission = addAdmission(app, onRequestEnd, context.maxInFlight);
  addHealthRoutes(app, context.health);
  const document = whenAsked(() => openApiDocument(context.routes));
  addOpenApiRoute(app, document);
  addReferenceRoute(app, document);
  const guards = (rpc: RoutedRpc) => [...requireAccess(rpc.access, context.keys), ...limitRate(rpc, context)];
  for (const rpc of context.routes) {
    if (rpc.http.stream === true) addStreamRoute(app, rpc, { ...context, guards, admission });
    else addRoute(app, rpc, { ...context, guards });
  }
  return app;
}
