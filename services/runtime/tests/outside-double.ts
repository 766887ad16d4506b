import type { JsonObject } from '@orrery/contracts';
import type { RuntimeDependencies } from '@orrery/runtime';

type Outside = NonNullable<RuntimeDependencies['outside']>;
type Answer = Awaited<ReturnType<Outside>>;

/** One question to the world outside, as a test sees it. */
export interface Asked {
  readonly request: Parameters<Outside>[0];
  readonly signal: AbortSignal;
  answer(mutation: JsonObject, evidence?: Omit<Answer, 'mutation'>): void;
  fail(error: Error): void;
}

/** A world outside that answers when and as a test says. */
export function createOutsideDouble() {
  const unseen: Asked[] = [];
  const waiting: ((asked: Asked) => void)[] = [];
  let questions = 0;
  const outside: Outside = (request, signal) =>
    new Promise((resolve, reject) => {
      questions += 1;
      const asked: Asked = {
        request,
        signal,
        answer: (mutation, evidence = {}) => resolve({ mutation, ...evidence }),
        fail: reject,
      };
      const next = waiting.shift();
      if (next === undefined) unseen.push(asked);
      else next(asked);
    });
  return {
    outside,
    questions: () => questions,
    /** The next question, once it is asked. */
    asked: () =>
      new Promise<Asked>((resolve) => {
        const first = unseen.shift();
        if (first === undefined) waiting.push(resolve);
        else resolve(first);
      }),
  };
}
