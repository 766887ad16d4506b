import { systemClock } from '@orrery/service-kit';
import { type ModelCall, says } from '@orrery/testing/model-server';
import { KINDS, type LoadContext, type Perform } from './kinds.js';

export interface Load {
  /** Begins nothing more, and lets every operation under way end. */
  finish(): Promise<void>;
}

/** A client thinks this long at most between two operations, in milliseconds. */
const THINKS_MS = 100;
const DRAWN: readonly Perform[] = KINDS.flatMap(({ weight, perform }) =>
  Array<Perform>(weight).fill(perform),
);

/** So many clients, each of which does one operation after the other, of a kind that it draws. */
export function startLoad(context: LoadContext, clients: number): Load {
  const ending = new AbortController();
  const live = async (number: number): Promise<void> => {
    const random = context.random.branch(`client ${number}`);
    while (!ending.signal.aborted) {
      await random.anyOf(DRAWN)({ ...context, random });
      await systemClock.sleep(random.whole(0, THINKS_MS));
    }
  };
  const running = Promise.all(Array.from({ length: clients }, (_, number) => live(number)));
  // Whoever finishes the load hears of it.
  running.catch(() => undefined);
  return {
    finish: async () => {
      ending.abort();
      await running;
    },
  };
}

/** Says the number of the operation that the prompt asks for: an answer to another question is seen. */
export const answersOperation = says((call: ModelCall) => {
  const operation = operationOf(call);
  return { stateChanges: { 'counter:AI': { value: operation } }, result: { operation } };
});

/** The operation that a call is about; the input of the event stands in the prompt, as JSON. */
export function operationOf({ body }: Pick<ModelCall, 'body'>): number {
  const prompt = body.messages.map(({ content }) => content).join('\n');
  return Number(/"operation":\s*(\d+)/.exec(prompt)?.[1] ?? -1);
}
