import type { Health, Logger } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';
import type { RoutedRpc } from './core/requests/operation.js';
import { addConsoleRoutes, addEntrance } from './documents/console-routes.js';
import { addAbsentDocs, addDocsRoutes } from './documents/docs-routes.js';
import { addDocumentRoute } from './documents/document-routes.js';
import { openApiDocument } from './documents/openapi/document.js';
import { addStaticFiles } from './documents/static-files.js';
import { declarePrincipal, type KeyVerifier, requireAccess } from './http/access/access.js';
import { answerProblems } from './http/errors/error-replies.js';
import { type AnswerLimits, boundAnswers } from './http/load/answers.js';
import { type ConnectionLimits, limitConnections } from './http/load/connections.js';
import {
  type AdmissionLimits,
  acceptJsonOnly,
  addAdmission,
  type BodyLimits,
  limitArrivingBodies,
} from './http/load/requests.js';
import { limitRate } from './http/rates/limiter.js';
import { addRoute } from './http/routes/operation-route.js';
import {
  addBrowserPolicy,
  addHealthRoutes,
  createHttp,
  observeRequests,
  requireHost,
  type ServerLimits,
} from './http/server/http-server.js';
import { answerUnknownRoutes, recordRoutes } from './http/server/route-table.js';
import { addMcpRoutes } from './mcp/mcp-route.js';
import { addPlayersPage } from './public/players-page.js';
import { addReadingRoute, type ReadingRouteContext } from './public/reading-route.js';
import { addSignedRoute, type SignedRouteContext } from './public/signed-route.js';
import { addStreamRoute, type StreamRouteContext } from './stream/start-streams.js';

/** What requests and connections may take. */
export type HttpLimits = ServerLimits & ConnectionLimits & BodyLimits & AnswerLimits;

export interface AppContext
  extends Omit<SignedRouteContext & StreamRouteContext & ReadingRouteContext, 'guards' | 'admission'>,
    AdmissionLimits {
  keys: KeyVerifier;
  logger: Logger;
  health: Health;
  limits: HttpLimits;
  /** Aborted once the server is about to close; requests are still taken. */
  ending?: AbortSignal;
  routes: readonly RoutedRpc[];
  /** The folders of the built console and of the page for players; undefined: it is not served. */
  consoleFolder: string | undefined;
  playFolder: string | undefined;
  /** The folder of the built pages of `/docs`; undefined: they are not served. */
  docsFolder: string | undefined;
}

/** The HTTP application, apart from the process: tests inject requests into it. */
export function createApp(context: AppContext): FastifyInstance {
  const app = createHttp(context.limits, context.ending);
  const table = recordRoutes(app);
  declarePrincipal(app);
  acceptJsonOnly(app, context.limits.jsonDepth);
  answerProblems(app, context.logger);
  boundAnswers(app, context.limits);
  const onRequestEnd = observeRequests(app, context.logger);
  addBrowserPolicy(app, table);
  requireHost(app);
  answerUnknownRoutes(app, table);
  limitConnections(app, onRequestEnd, context.limits);
  limitArrivingBodies(app, context.limits);
  const admission = addAdmission(app, onRequestEnd, context);
  addHealthRoutes(app, context.health);
  addDocumentRoute(app, () => openApiDocument(context.routes));
  const { consoleFolder, docsFolder, playFolder } = context;
  addStaticFiles(app, [consoleFolder, docsFolder, playFolder]);
  if (docsFolder === undefined) addAbsentDocs(app);
  else addDocsRoutes(app, docsFolder);
  if (consoleFolder !== undefined) addConsoleRoutes(app, consoleFolder);
  addEntrance(app, consoleFolder === undefined ? '/docs' : '/console/');
  const guards = (rpc: RoutedRpc) => [...requireAccess(rpc.access, context.keys), ...limitRate(rpc, context)];
  const routes = { ...context, guards, admission };
  for (const rpc of context.routes) {
    if (rpc.http.stream !== undefined) addStreamRoute(app, rpc, routes);
    else if (rpc.http.opens !== undefined) addReadingRoute(app, rpc, routes);
    else if (rpc.http.signed === true) addSignedRoute(app, rpc, routes);
    else addRoute(app, rpc, routes);
  }
  addMcpRoutes(app, routes);
  if (playFolder !== undefined) addPlayersPage(app, playFolder, routes);
  return app;
}
