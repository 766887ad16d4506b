import { type ModelCall, says } from '@orrery/testing/model-server';

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
