import type { MessagePort } from 'node:worker_threads';
import type { Environment } from '../environment/read-environment.js';
import type { CheckResults } from '../health/health.js';
import type { Question } from './questions.js';

/** What a thread is made with. */
export interface ThreadData {
  /** As in logs, health and metrics. */
  readonly name: string;
  /** What the process is called. */
  readonly service: string;
  readonly env: Environment;
  /** To the main thread's end of their link. */
  readonly port: MessagePort;
  /** Others that were handed over, by what they are for. */
  readonly ports: Readonly<Record<string, MessagePort>>;
}

/** How a start ended; `problem` is a StartupError's text. */
export type StartOutcome = { readonly told: unknown } | { readonly problem: string };

/** What the main thread asks of another. */
export type ThreadQuestions = {
  start: Question<unknown, StartOutcome>;
  checks: Question<undefined, CheckResults>;
  metrics: Question<undefined, string>;
  /** Releases everything and ends the thread: no answer comes. */
  stop: Question<undefined, void>;
};

/** What a thread asks of the main one. */
export type MainQuestions = {
  checks: Question<undefined, CheckResults>;
  /** An error was not caught: the process has to stop. */
  failed: Question<{ readonly message: string }, void>;
};
