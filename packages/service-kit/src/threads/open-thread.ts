import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type Environment, StartupError } from '../environment/environment.js';
import type { CheckResults } from '../health/health.js';
import type { RunningService, ServiceContext } from '../lifecycle/service-context.js';
import { createLink, type Procedure } from './link.js';

interface OpenThreadOptions {
  /** As in logs, health and metrics. */
  readonly name: string;
  /** What the process is called. */
  readonly service: string;
  /** Its code: a call of `runThread`. */
  readonly file: URL;
  /** Handed over to it. */
  readonly ports: Readonly<Record<string, MessagePort>>;
  /** How much longer than others its service may take to stop, in milliseconds. */
  readonly stopDelayMs: number;
}

/** What a thread may take to stop, in milliseconds: the sum of what its own resources may. Then it is ended. */
const STOP_MS = 14_000;
/** What ending it may take. */
const END_MS = 1000;

interface Thread extends RunningService {
  readonly stopTimeoutMs: number;
  /** Has it start its service, with what can be cloned. @throws StartupError as the service did. */
  start(given: unknown): Promise<unknown>;
}

/**
 * Creates a thread, which loads its code at once and starts its service on `start`. Its checks and metrics are part of the
 * process's. If it ends by itself or does not catch an error, that becomes an uncaught error of this thread.
 */
export function openThread(options: OpenThreadOptions, context: ServiceContext): Thread {
  const { name, service, file, ports } = options;
  const stopMs = STOP_MS + options.stopDelayMs;
  const { env, logger, health, telemetry } = context;
  const { port1, port2: port } = new MessageChannel();
  const data: ThreadData = { name, service, env: { ...env }, port, ports };
  const worker = new Worker(file, { workerData: data, transferList: [port, ...Object.values(ports)] });
  const link = createLink<MainProcedures, ThreadProcedures>({
    port: port1,
    logger,
    procedures: {
      checks: health.ownChecks,
      failed: ({ message }) => throwUncaught(`in the thread ${name}: ${message}`),
    },
  });
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  let isStopping = false;
  // Of what it does not catch itself: its code cannot be loaded, or its memory is full.
  worker.once('error', (error) => throwUncaught(`the thread ${name} failed: ${error.message}`));
  worker.once('exit', (code) => {
    // With another code its error has been thrown.
    if (!isStopping && code !== 1) throwUncaught(`the thread ${name} has ended`);
  });
  const leaveTelemetry = telemetry.include(() => link.call('metrics', undefined));
  const leaveHealth = health.include(`${name} thread`, () => link.call('checks', undefined));
  return {
    stopTimeoutMs: stopMs + END_MS,
    start: async (given) => {
      const outcome = await link.call('start', given);
      if ('problem' in outcome) throw new StartupError(outcome.problem);
      return outcome.result;
    },
    [Symbol.asyncDispose]: async () => {
      if (isStopping) return void (await exited);
      isStopping = true;
      leaveHealth();
      leaveTelemetry();
      link.call('stop', undefined).catch(() => undefined);
      const overdue = setTimeout(() => void worker.terminate(), stopMs);
      await exited;
      clearTimeout(overdue);
      link.close();
    },
  };
}

/** As an uncaught error of this thread. */
function throwUncaught(message: string): void {
  setImmediate(() => {
    throw new Error(message);
  });
}

/** What a thread is started with. */
export interface ThreadData {
  /** As in logs, health and metrics. */
  readonly name: string;
  /** What the process is called. */
  readonly service: string;
  readonly env: Environment;
  /** To the main thread's end of their link. */
  readonly port: MessagePort;
  /** Other ports that were handed over, by their purpose. */
  readonly ports: Readonly<Record<string, MessagePort>>;
}

/** How a start ended; `problem` is a StartupError's text. */
export type StartOutcome = { readonly result: unknown } | { readonly problem: string };

/** What the main thread calls in another thread. */
export type ThreadProcedures = {
  start: Procedure<unknown, StartOutcome>;
  checks: Procedure<undefined, CheckResults>;
  metrics: Procedure<undefined, string>;
  /** Releases everything and ends the thread: it never resolves. */
  stop: Procedure<undefined, void>;
};

/** What a thread calls in the main thread. */
export type MainProcedures = {
  checks: Procedure<undefined, CheckResults>;
  /** An error was not caught: the process has to stop. */
  failed: Procedure<{ readonly message: string }, void>;
};
