import type { ContentLimits } from '@orrery/contracts';
import type { Clock, Health, Logger } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';
import type { KeyVerifier } from './accounts/key-verifier.js';
import { addConsoleRoutes } from './console/console-routes.js';
import { answerProblems } from './http/errors/error-replies.js';
import { declarePrincipal, requireAccess } from './http/guards/access.js';
import { limitRate } from './http/guards/rate-limit.js';
import { addRoute } from './http/request/operation-route.js';
import { acceptJsonOnly } from './http/request/read-request.js';
import { addStreamRoute, type StreamHandler } from './http/request/stream-route.js';
import { addAdmission } from './http/server/admission.js';
import { limitArrivingBodies } from './http/server/arriving-bodies.js';
import { addBrowserPolicy } from './http/server/browser-policy.js';
import { limitConnections } from './http/server/connections.js';
import { addEntrance } from './http/server/entrance.js';
import { addHealthRoutes } from './http/server/health-routes.js';
import { createHttp, type HttpLimits } from './http/server/http-server.js';
import { observeRequests } from './http/server/observe-requests.js';
import { answerUnknownRoutes, recordRoutes } from './http/server/route-table.js';
import type { RateLimiter, RatePolicies } from './limits/rate-policy.js';
import { openApiDocument } from './openapi/document.js';
import type { CallOperation, RoutedRpc } from './operations/operation.js';
import { addSignedRoute, type ExecuteForWallet } from './public/signed-route.js';
import { addDocumentRoutes } from './reference/document-routes.js';

export interface AppContext {
  call: CallOperation;
  keys: KeyVerifier;
  clock: Clock;
  logger: Logger;
  health: Health;
  limits: HttpLimits;
  contentLimits: ContentLimits;
  /** Requests under way; beyond it new ones are refused. */
  maxInFlight: number;
  /** Of these, executions that wait for a model or a payment do not count, up to this many. */
  maxWaiting: number;
  /** How long a request waits for its turn, in milliseconds. Default 1,000. */
  queueMs?: number;
  limiter: RateLimiter;
  /** Undefined: nothing is limited. */
  rates: RatePolicies | undefined;
  /** How long a call may take, in milliseconds. */
  deadlineMs: number;
  routes: readonly RoutedRpc[];
  /** Serves the routes that a wallet signs. */
  executeForWallet: ExecuteForWallet;
  /** The address under which clients reach the service. */
  publicUrl: string;
  /** Serves the routes that are streams. */
  stream: StreamHandler;
  maxStreams: number;
  /** The folder of the built console; undefined: it is not served. */
  consoleFolder: string | undefined;
}

/** The HTTP application, apart from the process: tests inject requests into it. */
export function createApp(context: AppContext): FastifyInstance {
  const app = createHttp(context.limits);
  const table = recordRoutes(app);
  declarePrincipal(app);
  acceptJsonOnly(app, context.limits.jsonDepth);
  answerProblems(app, context.logger);
  const onRequestEnd = observeRequests(app, context.logger);
  addBrowserPolicy(app, table);
  answerUnknownRoutes(app, table);
  limitConnections(app, onRequestEnd, context.limits);
  limitArrivingBodies(app, context.limits);
  const admission = addAdmission(app, onRequestEnd, context);
  addHealthRoutes(app, context.health);
  addDocumentRoutes(app, () => openApiDocument(context.routes));
  const { consoleFolder } = context;
  if (consoleFolder !== undefined) addConsoleRoutes(app, consoleFolder);
  addEntrance(app, consoleFolder === undefined ? '/docs' : '/console/');
  const guards = (rpc: RoutedRpc) => [...requireAccess(rpc.access, context.keys), ...limitRate(rpc, context)];
  const routes = { ...context, guards, admission };
  for (const rpc of context.routes) {
    if (rpc.http.stream !== undefined) addStreamRoute(app, rpc, routes);
    else if (rpc.http.signed === true) addSignedRoute(app, rpc, routes);
    else addRoute(app, rpc, routes);
  }
  return app;
}
