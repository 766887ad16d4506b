import type { Cancellation } from '@orrery/contracts';
import type { RunningCalls } from '../calls/running-calls.js';
import type { Answer, Frame } from '../transport.js';

export interface Answering {
  serve(answers: ReadonlyMap<string, Answer>): void;
  answer(request: { readonly subject: string; readonly frame: Frame }, asked: Cancellation): Promise<Frame>;
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
        return await answer(frame, call);
      } finally {
        running.end(id);
      }
    },
  };
}
