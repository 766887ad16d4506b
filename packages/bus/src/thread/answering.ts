import type { Cancellation } from '@orrery/contracts';
import type { RunningCalls } from '../calls/running-calls.js';
import type { Answer } from '../transport.js';
import { type CarriedFrame, carryFrame, readFrame } from './carried-frame.js';

export interface Answering {
  serve(answers: ReadonlyMap<string, Answer>): void;
  answer(
    request: { readonly subject: string; readonly frame: CarriedFrame },
    asked: Cancellation,
  ): Promise<CarriedFrame>;
}

/** The answers of this thread's service to what the host passes on. */
export function createAnswering(running: RunningCalls): Answering {
  const answers = new Map<string, Answer>();
  let calls = 0;
  return {
    serve: (added) => {
      for (const [subject, answer] of added) answers.set(subject, answer);
    },
    answer: async ({ subject, frame }, asked) => {
      const answer = answers.get(subject);
      if (answer === undefined) throw new Error(`nobody in this thread answers ${subject}`);
      const id = String(++calls);
      const call = running.start(id);
      asked.addEventListener('abort', () => call.abort(asked.reason), { once: true });
      try {
        return carryFrame(await answer(readFrame(frame), call));
      } finally {
        running.end(id);
      }
    },
  };
}
