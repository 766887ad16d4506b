import { once } from 'node:events';
import {
  type Environment,
  type ProcessEnvironment,
  readProcessEnvironment,
  readTogether,
  StartupError,
} from '../environment/environment.js';
import { createHealth, startHealthServer } from '../health/health.js';
import { createLogger, type LogDestination, type Logger } from '../logging/logger.js';
import { startTelemetry, tracingOf } from '../telemetry/start-telemetry.js';
import { systemClock } from '../timing/clock.js';
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
 *   130  at once on a second signal, a second or more after the first
 */
export async function runService<Settings = undefined>(options: RunServiceOptions<Settings>): Promise<void> {
  if (options.host === undefined) outliveOutput();
  const host = options.host ?? process;
  const settings = settingsOrExit(options, host);
  if (settings === undefined) return;
  const logger = createLogger({
    service: options.name,
    level: settings.ofProcess.LOG_LEVEL,
    format: settings.ofProcess.LOG_FORMAT,
    destination: options.logDestination,
  });
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
  exit(host, life.exitCode());
}

/** What cannot be written to a full disk or a closed pipe is lost, and no reason to end. */
function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** A listener of the exit that throws would keep the process alive; a second call runs none. */
function exit(host: HostProcess, code: number): void {
  try {
    host.exit(code);
  } catch {
    host.exit(code);
  }
}

interface AllSettings<Settings> {
  readonly ofProcess: ProcessEnvironment;
  readonly ofService: Settings;
}

function settingsOrExit<Settings>(
  // Who gives no reader has `undefined` for settings, as the type's default says.
  { name, env, settings: read = () => undefined as Settings }: RunServiceOptions<Settings>,
  host: HostProcess,
): AllSettings<Settings> | undefined {
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
  const telemetry = await startTelemetry({
    service: name,
    ...tracingOf(ofProcess),
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

/** The part of `process` that a life cycle needs, so that tests can stand in for it. */
export interface HostProcess {
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  exit(code: number): unknown;
  readonly stderr: { write(text: string): unknown };
}

type ProcessLife = ReturnType<typeof watchProcess>;

/**
 * One Ctrl-C may come twice: to all programs of the terminal, and from npm, which passes on its own. So a signal is a second
 * wish only after this time, in milliseconds.
 */
const ONE_WISH_MS = 1000;

/** Follows the signals and uncaught errors of the process. A second signal exits at once. */
function watchProcess(host: HostProcess, logger: Logger) {
  const stop = new AbortController();
  /** On the first SIGINT or SIGTERM and on an uncaught error or a failure. */
  const ended = once(stop.signal, 'abort');
  // A service that only waits holds nothing that would keep the process alive.
  const alive = setInterval(() => undefined, 1 << 30);
  let exitCode = 0;
  let askedAt: number | undefined;
  const onSignal = (name: string) => () => {
    const now = systemClock.monotonic();
    if (askedAt !== undefined) return now - askedAt < ONE_WISH_MS ? undefined : exit(host, 130);
    askedAt = now;
    logger.info({ signal: name }, 'stopping');
    stop.abort();
  };
  const onUncaught = (error: unknown) => {
    const isFirst = exitCode === 0;
    exitCode = 1;
    if (isFirst) logger.fatal({ err: error }, 'an error was not caught: stopping');
    else logger.debug({ err: error }, 'another error was not caught');
    stop.abort();
  };
  stop.signal.addEventListener('abort', () => clearInterval(alive), { once: true });
  for (const name of ['SIGINT', 'SIGTERM']) host.on(name, onSignal(name));
  for (const event of ['uncaughtException', 'unhandledRejection']) host.on(event, onUncaught);

  /** Reports why the process cannot go on, and stops it; after a stop the failure is only its consequence. */
  const fail = (service: string, error: unknown) => {
    if (stop.signal.aborted) return logger.debug({ err: error }, 'failed while stopping');
    exitCode = 1;
    if (error instanceof StartupError) host.stderr.write(`${service}: ${error.message}\n`);
    else logger.fatal({ err: error }, 'cannot go on');
    stop.abort();
  };
  return { signal: stop.signal, ended, exitCode: () => exitCode, fail };
}
