import { type Environment, readTogether } from '../environment/read-environment.js';
import { createHealth } from '../health/health.js';
import { startHealthServer } from '../health/health-server.js';
import { createLogger, type Logger } from '../logging/create-logger.js';
import type { LogDestination } from '../logging/destinations.js';
import { startTelemetry } from '../telemetry/start-telemetry.js';
import { systemClock } from '../timing/clock.js';
import { type HostProcess, type ProcessLife, watchProcess } from './host-process.js';
import { type ProcessEnvironment, readProcessEnvironment } from './process-environment.js';
import { Resources } from './resources.js';
import type { RunningService, ServiceContext } from './service-context.js';

export interface RunServiceOptions<Settings = undefined> {
  readonly name: string;
  readonly env: Environment;
  /** Reads the service's variables, before anything is started; its problems are reported with the process's own. */
  readonly settings?: (env: Environment) => Settings;
  /** Builds and starts the service. A StartupError from here is printed as one line. */
  readonly start: (context: ServiceContext, settings: Settings) => Promise<RunningService>;
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
 *   1    after a failed start (nothing is left half-started), an uncaught error, or `fail` of the context
 *   130  at once on a second signal
 */
export async function runService<Settings = undefined>(options: RunServiceOptions<Settings>): Promise<void> {
  const host = options.host ?? process;
  const settings = settingsOrExit(options, host);
  if (settings === undefined) return;
  const logger = loggerOf(options, settings.ofProcess);
  const life = watchProcess(host, logger);
  const resources = new Resources({ logger });
  const fail = (error: unknown) => life.fail(options.name, error);
  try {
    await untilStopped(startAll(options, settings, { logger, resources, signal: life.signal, fail }), life);
    await life.ended;
  } catch (error) {
    fail(error);
  }
  await resources
    .release()
    .catch((error: unknown) => logger.error({ err: error }, 'not everything was released'));
  host.exit(life.exitCode());
}

interface AllSettings<Settings> {
  readonly ofProcess: ProcessEnvironment;
  readonly ofService: Settings;
}

function settingsOrExit<Settings>(
  { name, env, settings }: RunServiceOptions<Settings>,
  host: HostProcess,
): AllSettings<Settings> | undefined {
  // Who gives no reader has `undefined` for settings, as the type's default says.
  const read = settings ?? (() => undefined as Settings);
  try {
    return readTogether<AllSettings<Settings>>({
      ofProcess: () => readProcessEnvironment(env),
      ofService: () => read(env),
    });
  } catch (error) {
    host.stderr.write(`${name}: ${(error as Error).message}\n`);
    host.exit(1);
    return undefined;
  }
}

type Naming = Pick<RunServiceOptions, 'name' | 'logDestination'>;

function loggerOf({ name, logDestination }: Naming, settings: ProcessEnvironment): Logger {
  const destination = logDestination === undefined ? {} : { destination: logDestination };
  return createLogger({
    service: name,
    level: settings.LOG_LEVEL,
    format: settings.LOG_FORMAT,
    ...destination,
  });
}

async function startAll<Settings>(
  { name, env, start, defaultHealthPort }: RunServiceOptions<Settings>,
  { ofProcess, ofService }: AllSettings<Settings>,
  { logger, resources, signal, fail }: Pick<ServiceContext, 'logger' | 'resources' | 'signal' | 'fail'>,
): Promise<void> {
  const health = createHealth({ clock: systemClock });
  health.register('process', () =>
    signal.aborted ? { status: 'unavailable', detail: 'stopping' } : { status: 'ok' },
  );
  const ready = health.register('start', () => ({ status: 'unavailable', detail: 'starting' }));
  const port = ofProcess.HEALTH_PORT ?? defaultHealthPort;
  const tracing = ofProcess.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
  const usesSampler = ofProcess.OTEL_TRACES_SAMPLER !== undefined;
  const telemetry = await startTelemetry({
    service: name,
    tracing,
    usesSampler,
    metrics: port !== undefined,
  });
  resources.use('telemetry', telemetry);
  if (port !== undefined) {
    const server = { host: ofProcess.HEALTH_HOST, port, health, metrics: telemetry.metricsPage };
    resources.use('health server', await startHealthServer(server));
  }
  const context = { env, signal, logger, resources, health, telemetry, clock: systemClock, fail };
  const service = await start(context, ofService);
  resources.use(name, service, service.stopTimeoutMs);
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
