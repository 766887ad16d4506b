import type { MessagePort } from 'node:worker_threads';
import type { Environment } from '../environment/read-environment.js';
import type { CheckResults } from '../health/health.js';
import type { Procedure } from './link.js';

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
