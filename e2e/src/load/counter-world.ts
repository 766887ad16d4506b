import type { ApiClient } from '../api-client.js';
import { created } from '../created.js';

const count = {
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
  const world = `/worlds/${created(await api.post('/worlds', { name: 'Counting' })).address}`;
  const attributes = [{ name: 'value', type: 'integer', defaultValue: 0 }];
  created(await api.post(`${world}/entity-schemas`, { name: 'counter', attributes }));
  created(await api.post(`${world}/events`, count));
  return {
    /** Answers the deployment's path below `/api`. */
    deploy: async () => {
      const bindings = [{ event: 'count', eventVersion: 1 }];
      const { address } = created(await api.post(`${world}/deployments`, { name: 'Counter', bindings }));
      return `${world}/deployments/${address}`;
    },
  };
}

export const countRequest = (operation: number, counter = 'C') => ({
  event: 'count',
  input: { operation, counter },
});
