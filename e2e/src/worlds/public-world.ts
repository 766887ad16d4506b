import type { ApiClient } from '../api/api-client.js';
import { type MadeDeployment, makeWorld } from './make-world.js';

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

/** A public deployment with events that wallets may execute, and one that they may not. */
export async function publicWorld(api: ApiClient): Promise<MadeDeployment> {
  const guest = {
    name: 'guest',
    attributes: [
      { name: 'visits', type: 'integer', defaultValue: 0 },
      { name: 'by', type: 'string' },
    ],
  };
  const events = [
    ...OPEN_EVENTS.map((name) => ({ name, firstVersion: entering('public') })),
    { name: CLOSED_EVENT, firstVersion: entering('admin') },
  ];
  const { deploy } = await makeWorld(api, { name: 'Open house', schemas: [guest], events });
  const deployment = await deploy({ name: 'House' });
  await api.post(`${deployment.path}/publish`);
  return deployment;
}
