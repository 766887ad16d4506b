import { type ApiClient, created } from '../api/api-client.js';
import type { MadeDeployment } from './make-world.js';

export const RECEIVER = '0x2222222222222222222222222222222222222222';
/** Of the event `toast`, in units of the token: 0.01 dollars. */
export const PRICE = 10_000n;

const toast = {
  name: 'toast',
  firstVersion: {
    inputSchema: { name: 'string' },
    stateChanges: { guest: 'partial' },
    executionSettings: { visibility: 'public', priceUsd: 0.01 },
    mutationSettings: {
      mode: 'direct',
      template: { 'guest:{{input.name}}': { visits: { $increment: 1 }, by: '{{walletAddress}}' } },
    },
  },
};

/** Binds an event with a price in a public world. */
export async function sellToasts(
  api: ApiClient,
  { path }: MadeDeployment,
  payToAddress: string,
): Promise<void> {
  const world = path.split('/deployments')[0];
  created(await api.post(`${world}/events`, toast));
  await api.post(`${path}/event-bindings`, [{ event: toast.name, eventVersion: 1 }]);
  await api.put(path, { payToAddress });
}
