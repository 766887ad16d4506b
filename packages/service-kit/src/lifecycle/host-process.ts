import { StartupError } from '../environment/startup-error.js';
import type { Logger } from '../logging/create-logger.js';

/** The part of `process` that a life cycle needs, so that tests can stand in for it. */
export interface HostProcess {
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  exit(code: number): unknown;
  readonly stderr: { write(text: string): unknown };
}

export interface ProcessLife {
  /** Aborts on the first SIGINT or SIGTERM and on an uncaught error or a failure. */
  readonly signal: AbortSignal;
  /** Resolves when the signal aborts. */
  readonly ended: Promise<void>;
  exitCode(): number;
  /** Reports why the process cannot go on, and stops it; after a stop the failure is only its consequence. */
  fail(service: string, error: unknown): void;
}

/** Follows the signals and uncaught errors of the process. A second signal exits at once. */
export function watchProcess(host: HostProcess, logger: Logger): ProcessLife {
  const stop = new AbortController();
  const ended = new Promise<void>((resolve) =>
    stop.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  // A service that only waits holds nothing that would keep the process alive.
  const alive = setInterval(() => undefined, 1 << 30);
  let exitCode = 0;
  const onSignal = (name: string) => () => {
    if (stop.signal.aborted) return host.exit(130);
    logger.info({ signal: name }, 'stopping');
    stop.abort();
  };
  const onUncaught = (error: unknown) => {
    logger.fatal({ err: error }, 'an error was not caught: stopping');
    exitCode = 1;
    stop.abort();
  };
  stop.signal.addEventListener('abort', () => clearInterval(alive), { once: true });
  for (const name of ['SIGINT', 'SIGTERM']) host.on(name, onSignal(name));
  for (const event of ['uncaughtException', 'unhandledRejection']) host.on(event, onUncaught);

  const fail = (service: string, error: unknown) => {
    if (stop.signal.aborted) return logger.debug({ err: error }, 'failed while stopping');
    exitCode = 1;
    if (error instanceof StartupError) host.stderr.write(`${service}: ${error.message}\n`);
    else logger.fatal({ err: error }, 'cannot go on');
    stop.abort();
  };
  return { signal: stop.signal, ended, exitCode: () => exitCode, fail };
}
