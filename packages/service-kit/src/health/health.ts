import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { StartupError } from '../environment/environment.js';
import { answerInTime, type Clock } from '../timing/clock.js';
import { tellReadiness } from './ready-gauge.js';

type HealthStatus = 'ok' | 'degraded' | 'unavailable';

/** `detail` is shown to anyone who asks: no address, no secret, no error text of a library. */
export interface CheckResult {
  readonly status: HealthStatus;
  readonly detail?: string;
}

type HealthCheck = () => CheckResult | Promise<CheckResult>;

export type CheckResults = Readonly<Record<string, CheckResult>>;

interface Readiness {
  /** The worst of the checks. Only `unavailable` means: send no requests here. */
  readonly status: HealthStatus;
  readonly checks: CheckResults;
}

export type Health = ReturnType<typeof createHealth>;

interface HealthOptions {
  readonly clock: Clock;
  /** A check that takes longer counts as unavailable, in milliseconds. Default 1,000. */
  readonly timeoutMs?: number;
}

/** The registry of a process's checks; each service registers what it cannot work without. */
export function createHealth({ clock, timeoutMs = 1000 }: HealthOptions) {
  const checks = new Map<string, HealthCheck>();
  const included = new Map<string, () => Promise<CheckResults>>();
  let underWay: Promise<Readiness> | undefined;
  let last: { readonly found: Readiness; readonly at: number } | undefined;

  /** What the registered checks say, without those included. */
  const ownChecks = async (): Promise<CheckResults> => {
    const named = [...checks].map(async ([name, check]) => {
      return [name, await answer(check, (result) => result, clock, timeoutMs)] as const;
    });
    return Object.fromEntries(await Promise.all(named));
  };
  const runAll = async (): Promise<Readiness> => {
    const others = [...included].map(([name, ask]) =>
      // The others' own checks may be late first.
      answer(ask, (result) => ({ [name]: result }), clock, 1.5 * timeoutMs),
    );
    const results: CheckResults = Object.assign({}, ...(await Promise.all([ownChecks(), ...others])));
    return { status: worstOf(Object.values(results).map(({ status }) => status)), checks: results };
  };
  const runOnce = async (): Promise<Readiness> => {
    try {
      const found = await runAll();
      last = { found, at: clock.monotonic() };
      return found;
    } finally {
      underWay = undefined;
    }
  };
  const readiness = (): Promise<Readiness> => {
    underWay ??= runOnce();
    return underWay;
  };

  return {
    /** Adds a named check and returns how to take it away again. */
    register: (name: string, check: HealthCheck) => addTo(checks, name, check),
    /**
     * Adds what another registry of the process finds, and returns how to take it away again. Where it fails or is late, that
     * is what `name` says.
     */
    include: (name: string, ask: () => Promise<CheckResults>) => addTo(included, name, ask),
    ownChecks,
    /** Runs all checks at once. Callers that come meanwhile share the same run. */
    readiness,
    /** What was found within the last `maxAgeMs`, else what another run finds. */
    recentReadiness: async (maxAgeMs: number): Promise<Readiness> =>
      last !== undefined && clock.monotonic() - last.at < maxAgeMs ? last.found : readiness(),
  };
}

function addTo<T>(named: Map<string, T>, name: string, one: T): () => void {
  if (named.has(name)) throw new Error(`a health check named ${name} exists already`);
  named.set(name, one);
  return () => named.delete(name);
}

/** A check that does not answer is an answer too. */
const answer = <T>(
  ask: () => T | Promise<T>,
  instead: (result: CheckResult) => T,
  clock: Clock,
  timeoutMs: number,
): Promise<T> =>
  answerInTime(ask, {
    clock,
    timeoutMs,
    late: () => instead({ status: 'unavailable', detail: `no answer within ${timeoutMs} ms` }),
    failed: () => instead({ status: 'unavailable', detail: 'the check failed' }),
  });

function worstOf(statuses: readonly HealthStatus[]): HealthStatus {
  if (statuses.includes('unavailable')) return 'unavailable';
  return statuses.includes('degraded') ? 'degraded' : 'ok';
}

interface HealthServerOptions {
  readonly host: string;
  /** 0 lets the system choose; see `port` of the result. */
  readonly port: number;
  readonly health: Health;
  /** The metrics page in Prometheus' text format. */
  readonly metrics: () => Promise<string>;
}

/**
 * `/healthz`, `/readyz` and `/metrics` on a port of their own. `/readyz` answers 503 when a check is
 * unavailable, and `/metrics` tells which one is.
 *
 * @throws StartupError when the address cannot be listened on.
 */
export async function startHealthServer({
  host,
  port,
  health,
  metrics,
}: HealthServerOptions): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer({ requestTimeout: 5000, headersTimeout: 5000 }, (request, response) => {
    const [path] = (request.url ?? '/').split('?', 1);
    servePath(path, response, { health, metrics }).catch(() => response.writeHead(500).end());
  });
  const listening = await listen(server, { host, port, variable: 'HEALTH_PORT' });
  tellReadiness(health);
  return { port: listening, [Symbol.asyncDispose]: () => close(server) };
}

async function servePath(
  path: string | undefined,
  response: ServerResponse,
  { health, metrics }: Pick<HealthServerOptions, 'health' | 'metrics'>,
): Promise<void> {
  // The process runs and its event loop turns: being able to ask is the answer.
  if (path === '/healthz') return sendJson(response, 200, { status: 'ok' });
  if (path === '/readyz') {
    const readiness = await health.readiness();
    return sendJson(response, readiness.status === 'unavailable' ? 503 : 200, readiness);
  }
  if (path !== '/metrics') return sendJson(response, 404, { status: 'not_found' });
  const page = await metrics();
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(page);
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

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The variable that chooses the port, to be named when the port is taken. */
  readonly variable: string;
}

/** Listens and returns the port. @throws StartupError when the port is taken, forbidden or no such address exists. */
export async function listen(server: NetServer, address: ListenAddress): Promise<number> {
  try {
    server.listen(address.port, address.host);
    await once(server, 'listening');
  } catch (error) {
    throw listenFailure(error, address);
  }
  return (server.address() as AddressInfo).port;
}

/** Turns a failed `listen` into a StartupError that says what to do; other errors are returned as they are. */
export function listenFailure(error: unknown, { host, port, variable }: ListenAddress): unknown {
  const advice: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use: stop the program that holds it or set ${variable} to another port.`,
    EACCES: `Port ${port} on ${host} may not be used by this user: set ${variable} to a port above 1023.`,
    EADDRNOTAVAIL: `This machine has no address ${host}: set another host to listen on.`,
    ENOTFOUND: `The host ${host} is not known here: set another host to listen on.`,
  };
  const message = advice[(error as NodeJS.ErrnoException).code ?? ''];
  return message === undefined ? error : new StartupError(message, { cause: error });
}
