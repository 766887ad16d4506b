import type { Environment } from '../environment/read-environment.js';
import { createHealth } from '../health/health.js';
import { startHealthServer } from '../health/health-server.js';
import { createLogger, type LogDestination, type Logger } from '../logging/create-logger.js';
import { startTelemetry } from '../telemetry/start-telemetry.js';
import { systemClock } from '../timing/clock.js';
import { type HostProcess, type ProcessLife, watchProcess } from './host-process.js';
import { type ProcessEnvironment, readProcessEnvironment } from './process-environment.js';
import { Resources } from './resources.js';
import type { RunningService, ServiceContext } from './service-context.js';

export interface RunServiceOptions {
  readonly name: string;
  readonly env: Environment;
  /** Builds and starts the service. A StartupError from here is printed as one line. */
  readonly start: (context: ServiceContext) => Promise<RunningService>;
  /** Where `/healthz`, `/readyz` and `/metrics` listen when HEALTH_PORT is not set. Default: nowhere. */
  readonly defaultHealthPort?: number;
  readonly host?: HostProcess;
  readonly logDestination?: LogDestination;
}

/** A start that is under way when the process is asked to stop has this long to end, in milliseconds. */
const START_GRACE_MS = 5000;

/**
 * The whole life of a process; `main.ts` is this one call. It never rejects: the process exits with
 *
 *   0    after SIGINT or SIGTERM, everything released
 *   1    after a failed start (nothing is left half-started) or an error that nobody caught
 *   130  at once on a second signal
 */
export async function runService(options: RunServiceOptions): Promise<void> {
  const host = options.host ?? process;
  const settings = settingsOrExit(options, host);
  if (settings === undefined) return;
  const logger = loggerOf(options, settings);
  const life = watchProcess(host, logger);
  const resources = new Resources({ logger });
  try {
    await untilStopped(startAll(options, settings, { logger, resources, signal: life.signal }), life);
    await life.ended;
  } catch (error) {
    life.failStart(options.name, error);
  }
  await resources
    .release()
    .catch((error: unknown) => logger.error({ err: error }, 'not everything was released'));
  host.exit(life.exitCode());
}

function settingsOrExit({ name, env }: RunServiceOptions, host: HostProcess): ProcessEnvironment | undefined {
  try {
    return readProcessEnvironment(env);
  } catch (error) {
    host.stderr.write(`${name}: ${(error as Error).message}\n`);
    host.exit(1);
    return undefined;
  }
}

function loggerOf({ name, logDestination }: RunServiceOptions, settings: ProcessEnvironment): Logger {
  const destination = logDestination === undefined ? {} : { destination: logDestination };
  return createLogger({
    service: name,
    level: settings.LOG_LEVEL,
    format: settings.LOG_FORMAT,
    ...destination,
  });
}

async function startAll(
  { name, env, start, defaultHealthPort }: RunServiceOptions,
  settings: ProcessEnvironment,
  { logger, resources, signal }: Pick<ServiceContext, 'logger' | 'resources' | 'signal'>,
): Promise<void> {
  const health = createHealth({ clock: systemClock });
  health.register('process', () =>
    signal.aborted ? { status: 'unavailable', detail: 'stopping' } : { status: 'ok' },
  );
  const ready = health.register('start', () => ({ status: 'unavailable', detail: 'starting' }));
  const port = settings.HEALTH_PORT ?? defaultHealthPort;
  const tracing = settings.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
  const telemetry = await startTelemetry({ service: name, tracing, metrics: port !== undefined });
  resources.use('telemetry', telemetry);
  if (port !== undefined) {
    const server = { host: settings.HEALTH_HOST, port, health, metrics: telemetry.metricsPage };
    resources.use('health server', await startHealthServer(server));
  }
  resources.use(name, await start({ env, signal, logger, resources, health, clock: systemClock }));
  ready();
  logger.info('started');
}

/** Waits for the start, and no longer than the grace once the process is asked to stop. */
async function untilStopped(starting: Promise<void>, life: ProcessLife): Promise<void> {
  const settled = new AbortController();
  const given = life.ended.then(() => systemClock.sleep(START_GRACE_MS, settled.signal));
  given.catch(() => undefined);
  await Promise.race([starting, given]).finally(() => settled.abort());
}
