import type { Caller } from '@orrery/contracts';
import { createLogger, systemClock } from '@orrery/service-kit';
import type { Bus, CallOptions } from '../src/index.js';

/** What the behaviour suite needs to know about an adapter. */
export interface BusWorld extends AsyncDisposable {
  /** A further process (or service) on the same bus. */
  join(service?: string): Promise<Bus>;
  /** One that may consume stored messages; a service in a thread of its own only publishes them. */
  joinConsumer(): Promise<Bus>;
  /** Whether several processes may share one consumer. */
  readonly manyProcesses: boolean;
  /** All log lines of all members. */
  readonly log: readonly string[];
}

export interface LogLines {
  readonly lines: string[];
  readonly logger: ReturnType<typeof createLogger>;
}

export function logLines(): LogLines {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  return { lines, logger: createLogger({ service: 'test', level: 'debug', destination }) };
}

export const caller: Caller = { kind: 'account', accountId: 7, scopes: ['read', 'execute'] };

/** Options of a call that has time. */
export const inTime = (more: Partial<CallOptions> = {}): CallOptions => ({
  caller,
  requestId: 'req-1',
  deadline: systemClock.now() + 20_000,
  ...more,
});
