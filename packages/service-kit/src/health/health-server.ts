import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Health } from './health.js';
import { listen } from './listen.js';

export interface HealthServerOptions {
  readonly host: string;
  /** 0 lets the system choose; see `port` of the result. */
  readonly port: number;
  readonly health: Health;
  /** The metrics page in Prometheus' text format. */
  readonly metrics?: () => Promise<string>;
}

export interface HealthServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * `/healthz`, `/readyz` and `/metrics` on a port of their own. `/readyz` answers 503 when a check is
 * unavailable.
 *
 * @throws StartupError when the address cannot be listened on.
 */
export async function startHealthServer({
  host,
  port,
  health,
  metrics,
}: HealthServerOptions): Promise<HealthServer> {
  const server = createServer({ requestTimeout: 5000, headersTimeout: 5000 }, (request, response) => {
    const path = new URL(request.url ?? '/', 'http://health').pathname;
    answer(path, response, health, metrics).catch(() => response.writeHead(500).end());
  });
  const listening = await listen(server, { host, port, variable: 'HEALTH_PORT' });
  return { port: listening, [Symbol.asyncDispose]: () => close(server) };
}

async function answer(
  path: string,
  response: ServerResponse,
  health: Health,
  metrics: (() => Promise<string>) | undefined,
): Promise<void> {
  if (path === '/healthz') return sendJson(response, 200, health.liveness());
  if (path === '/readyz') {
    const readiness = await health.readiness();
    return sendJson(response, readiness.status === 'unavailable' ? 503 : 200, readiness);
  }
  if (path === '/metrics' && metrics !== undefined) {
    response
      .writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
      .end(await metrics());
    return;
  }
  sendJson(response, 404, { status: 'not_found' });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
