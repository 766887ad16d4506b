import type { ApiClient } from '../api/api-client.js';
import { counting, makeWorld } from './make-world.js';

export const count = {
  name: 'count',
  firstVersion: {
    inputSchema: { operation: 'integer', counter: 'string' },
    stateChanges: { counter: 'partial' },
    mutationSettings: {
      mode: 'direct',
      template: {
        stateChanges: { 'counter:{{input.counter}}': { value: { $increment: 1 } } },
        result: { operation: '{{input.operation}}' },
      },
    },
  },
};

/** A world whose deployments count; each operation is recognised in the history by its number. */
export async function counterWorld(api: ApiClient): Promise<{ deploy: () => Promise<string> }> {
  const schemas = [counting('counter', 'value')];
  const { deploy } = await makeWorld(api, { name: 'Counting', schemas, events: [count] });
  /** Answers the deployment's path below `/api`. */
  return { deploy: async () => (await deploy()).path };
}

export const countRequest = (operation: number, counter = 'C') => ({
  event: 'count',
  input: { operation, counter },
});
