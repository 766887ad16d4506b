import { createRunningCalls, type RunningCalls } from '../calls/running-calls.js';
import type { Exchange } from '../transport.js';
import type { Switchboard } from './switchboard.js';

export interface InProcessExchange extends Exchange {
  readonly running: RunningCalls;
  /** Takes no more requests. */
  stop(): void;
}

/** One service's place at the switchboard. */
export function createInProcessExchange(switchboard: Switchboard): InProcessExchange {
  const running = createRunningCalls();
  const leave = new Set<() => void>();
  return {
    running,
    request: switchboard.request,
    respond: async (_group, answers) => {
      for (const [subject, answer] of answers) leave.add(switchboard.join(subject, { answer, running }));
    },
    broadcast: async (subject, frame) => switchboard.broadcast(subject, frame),
    listen: async (subject, receive, signal) => {
      const end = switchboard.listen(subject, receive);
      leave.add(end);
      const endNow = () => {
        end();
        leave.delete(end);
      };
      signal.addEventListener('abort', endNow, { once: true });
    },
    stop: () => {
      for (const end of leave) end();
    },
  };
}
