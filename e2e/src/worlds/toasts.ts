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

/** The same, which who pays may call. */
const treat = {
  name: 'treat',
  firstVersion: {
    ...toast.firstVersion,
    executionSettings: { ...toast.firstVersion.executionSettings, payerMayCall: true },
  },
};

/** Binds events with a price in a public world. */
export async function sellToasts(
  api: ApiClient,
  { path }: MadeDeployment,
  payToAddress: string,
): Promise<void> {
  const world = path.split('/deployments')[0];
  for (const event of [toast, treat]) created(await api.post(`${world}/events`, event));
  const bindings = [toast, treat].map(({ name }) => ({ event: name, eventVersion: 1 }));
  await api.post(`${path}/event-bindings`, bindings);
  await api.put(path, { payToAddress });
}
