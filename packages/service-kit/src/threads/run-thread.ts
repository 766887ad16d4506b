import { type MessagePort, workerData } from 'node:worker_threads';
import { readProcessEnvironment, StartupError } from '../environment/environment.js';
import { createHealth } from '../health/health.js';
import { Resources } from '../lifecycle/resources.js';
import type { ServiceContext } from '../lifecycle/service-context.js';
import { createLogger } from '../logging/logger.js';
import { startTelemetry, tracingOf } from '../telemetry/start-telemetry.js';
import { systemClock } from '../timing/clock.js';
import { createLink } from './link.js';
import type { MainProcedures, StartOutcome, ThreadData, ThreadProcedures } from './open-thread.js';

interface ThreadContext extends Omit<ServiceContext, 'telemetry' | 'fail'> {
  /** As given to `openThread`. */
  readonly ports: Readonly<Record<string, MessagePort>>;
}

/** Builds a service from `context.resources`. The main thread gets what it returns. */
type StartInThread<Given, Result> = (context: ThreadContext, given: Given) => Promise<Result>;

/**
 * The life of a service in a thread of its own; the thread's file is this one call. It is started and stopped by the
 * main thread (`openThread`), and an uncaught error here stops the process.
 */
export async function runThread<Given, Result>(start: StartInThread<Given, Result>): Promise<void> {
  const { name, service, env, port, ports } = workerData as ThreadData;
  const { LOG_LEVEL: level, LOG_FORMAT: format, ...settings } = readProcessEnvironment(env);
  const logger = createLogger({ service, level, format });
  const health = createHealth({ clock: systemClock });
  const resources = new Resources({ logger });
  const stopping = new AbortController();
  const metrics = settings.HEALTH_PORT !== undefined;
  const telemetry = await startTelemetry({ service, ...tracingOf(settings), metrics, thread: name });
  resources.use('telemetry', telemetry);
  const context = { env, signal: stopping.signal, logger, resources, health, clock: systemClock, ports };
  const stop = async () => {
    stopping.abort();
    await resources
      .release()
      .catch((error: unknown) => logger.error({ err: error }, 'not everything was released'));
    process.exit();
  };
  const main = createLink<ThreadProcedures, MainProcedures>({
    port,
    logger,
    procedures: {
      start: (given) => outcomeOf(start(context, given as Given)),
      checks: health.ownChecks,
      metrics: telemetry.metricsPage,
      stop,
    },
  });
  health.include('main thread', () => main.call('checks', undefined));
  const onUncaught = (error: unknown) => {
    logger.fatal({ err: error, thread: name }, 'an error was not caught');
    // The main thread may be gone already.
    main.call('failed', { message: String(error) }).catch(() => undefined);
  };
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, onUncaught);
}

async function outcomeOf(started: Promise<unknown>): Promise<StartOutcome> {
  try {
    return { result: await started };
  } catch (error) {
    if (error instanceof StartupError) return { problem: error.message };
    throw error;
  }
}
