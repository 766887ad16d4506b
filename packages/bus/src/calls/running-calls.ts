import { Canceller, ServiceError } from '@orrery/contracts';
import { goneError } from './late.js';

/** The calls that this process is answering. Their number is not bounded here. */
export interface RunningCalls {
  readonly size: number;
  /** `id` is what a cancellation names. */
  start(id: string): Canceller;
  end(id: string): void;
  cancel(id: string): void;
  /** Resolves when none runs. */
  untilIdle(): Promise<void>;
  /** Tells those that still run to stop. */
  abortAll(): void;
}

export function createRunningCalls(): RunningCalls {
  const running = new Map<string, Canceller>();
  let onIdle: (() => void) | undefined;
  return {
    get size() {
      return running.size;
    },
    start: (id) => {
      const call = new Canceller();
      running.set(id, call);
      return call;
    },
    end: (id) => {
      running.delete(id);
      if (running.size === 0) onIdle?.();
    },
    cancel: (id) => running.get(id)?.abort(goneError()),
    untilIdle: async () => {
      if (running.size === 0) return;
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    },
    abortAll: () => {
      for (const call of running.values())
        call.abort(new ServiceError('unavailable', 'The service is stopping'));
    },
  };
}
