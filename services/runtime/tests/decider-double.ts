import type { JsonObject } from '@orrery/contracts';
import type { RuntimeDependencies } from '@orrery/runtime';

type Decider = NonNullable<RuntimeDependencies['decider']>;
type Answer = Awaited<ReturnType<Decider>>;

/** One call of the decider, as a test sees it. */
export interface DeciderCall {
  readonly request: Parameters<Decider>[0];
  readonly signal: AbortSignal;
  answer(mutation: JsonObject, evidence?: Omit<Answer, 'mutation'>): void;
  fail(error: Error): void;
}

/** A decider that answers when and as a test says. */
export function createDeciderDouble() {
  const unseen: DeciderCall[] = [];
  const waiting: ((call: DeciderCall) => void)[] = [];
  let calls = 0;
  const decider: Decider = (request, signal) =>
    new Promise((resolve, reject) => {
      calls += 1;
      const call: DeciderCall = {
        request,
        signal,
        answer: (mutation, evidence = {}) => resolve({ mutation, ...evidence }),
        fail: reject,
      };
      const next = waiting.shift();
      if (next === undefined) unseen.push(call);
      else next(call);
    });
  const nextCall = () => {
    const { promise, resolve } = Promise.withResolvers<DeciderCall>();
    const first = unseen.shift();
    if (first === undefined) waiting.push(resolve);
    else resolve(first);
    const withdraw = () => {
      const at = waiting.indexOf(resolve);
      if (at >= 0) waiting.splice(at, 1);
    };
    return { promise, withdraw };
  };
  return {
    decider,
    calls: () => calls,
    /** The next call, once it is made. */
    called: (): Promise<DeciderCall> => nextCall().promise,
    /** The next call; rejects when the execution ends without one. */
    calledBefore: (end: Promise<unknown>): Promise<DeciderCall> => {
      const { promise, withdraw } = nextCall();
      const ended = end.then((answer) => {
        throw new Error(`ended without another call of the decider: ${JSON.stringify(answer)}`);
      });
      return Promise.race([promise, ended]).finally(withdraw);
    },
    /** What a test has left, its waits too, is nothing to the next one. */
    clear: (): void => {
      unseen.length = 0;
      waiting.length = 0;
    },
  };
}
