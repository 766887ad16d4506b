import type { ApiClient } from '../api-client.js';
import { created } from '../created.js';

/** Events that wallets may execute. */
export const OPEN_EVENTS = ['enter', 'レース:🐎:2026-01-01T00:00'] as const;
/** The owner's alone. */
export const CLOSED_EVENT = 'close';

const entering = (visibility: string) => ({
  inputSchema: { name: 'string' },
  stateChanges: { guest: 'partial' },
  executionSettings: { visibility },
  mutationSettings: {
    mode: 'direct',
    template: {
      'guest:{{input.name}}': { visits: { $increment: 1 }, by: '{{walletAddress}}' },
    },
  },
});

export interface PublicWorld {
  /** The deployment's address. */
  readonly address: string;
  readonly id: number;
  /** Its path below `/api`. */
  readonly path: string;
}

/** A public deployment with events that wallets may execute, and one that they may not. */
export async function publicWorld(api: ApiClient): Promise<PublicWorld> {
  const world = `/worlds/${created(await api.post('/worlds', { name: 'Open house' })).address}`;
  const attributes = [
    { name: 'visits', type: 'integer', defaultValue: 0 },
    { name: 'by', type: 'string' },
  ];
  created(await api.post(`${world}/entity-schemas`, { name: 'guest', attributes }));
  for (const name of OPEN_EVENTS)
    created(await api.post(`${world}/events`, { name, firstVersion: entering('public') }));
  created(await api.post(`${world}/events`, { name: CLOSED_EVENT, firstVersion: entering('admin') }));
  const bindings = [...OPEN_EVENTS, CLOSED_EVENT].map((event) => ({ event, eventVersion: 1 }));
  const deployment = created(await api.post(`${world}/deployments`, { name: 'House', bindings }));
  const path = `${world}/deployments/${deployment.address}`;
  await api.post(`${path}/publish`);
  return { address: deployment.address, id: deployment.id, path };
}
