import { expect, vi } from 'vitest';
import { type ApiClient, created } from '../api/api-client.js';
import { counting, makeWorld, plant } from '../worlds/make-world.js';
import { WEBHOOK_URL } from './webhook-url.js';

/** Who besides the owner can see a world and its deployment. */
export interface Visibility {
  world: boolean;
  deployment: boolean;
}

/** A world with one of everything that a path can name; the values of path parameters by their names. */
export interface WorldPaths extends Visibility {
  params: Readonly<Record<string, string>>;
  /** A world without deployments, which may be deleted. */
  emptyWorld: string;
  /** The address of a what-if fork of the deployment, before its second entry. */
  fork: string;
}

/** A text that nobody but the owner may ever read. */
export const SECRET = 'between-owner-and-model';

const run = {
  inputSchema: { id: 'string' },
  stateChanges: { horse: 'partial' },
  behaviorPrompt: SECRET,
  mutationSettings: {
    mode: 'direct',
    template: {
      'horse:{{input.id}}': { wins: { $increment: `{{ input.id == "${SECRET}" ? 2 : 1 }}` } },
    },
  },
};

/** Has a schedule that is due in years only. */
const tick = {
  ...run,
  executionSettings: {
    visibility: 'cron',
    cron: { schedule: '0 0 29 2 *', input: { id: `{{ counter > 0 ? "A" : "${SECRET}" }}` } },
  },
};

/** Makes such a world of the client's account. */
export async function makeWorldPaths(api: ApiClient, visible: Visibility): Promise<WorldPaths> {
  const made = await makeWorld(api, {
    name: 'Access',
    promptSeed: SECRET,
    schemas: ['horse', 'spare'].map((name) => counting(name, 'wins')),
    events: [
      { name: 'run', firstVersion: run },
      { name: 'spare', firstVersion: run },
      { name: 'tick', firstVersion: tick },
    ],
  });
  const worldAddress = made.address;
  const bindings = ['run', 'tick'].map((event) => ({ event, eventVersion: 1 }));
  const { address, path: deployment } = await made.deploy({ bindings });
  await plant(api, deployment, 'horse', 'A');
  const execution = { event: 'run', input: { id: 'A' } };
  const done = await api.post(`${deployment}/execute`, execution);
  const executionId = await runToItsEnd(api, deployment, execution);
  // Due in a year: it stays where it is.
  const later = await api.post(`${deployment}/execute`, { ...execution, after: 'P365D' });
  const emptyWorld = created(await api.post('/worlds', { name: 'Empty' })).address;
  for (const one of visible.world ? [worldAddress, emptyWorld] : []) await api.post(`/worlds/${one}/publish`);
  if (visible.deployment) await api.post(`${deployment}/publish`);
  const { address: fork } = await made.deploy({
    bindings: [],
    purpose: 'what_if',
    sourceDeployment: address,
    sourceSeq: 1,
  });
  const webhook = created(await api.post(`${deployment}/webhooks`, { url: WEBHOOK_URL }));
  // Nothing is sent, which would change its row later.
  await api.put(`${deployment}/webhooks/${webhook.id}`, { isEnabled: false });
  // What the scheduler reads of the deployment it has read then.
  await api.get(`${deployment}/schedules`);
  return {
    ...visible,
    emptyWorld,
    fork,
    params: {
      idOrAddress: worldAddress,
      worldAddress,
      address,
      schemaName: 'horse',
      name: 'wins',
      eventName: 'run',
      event: 'tick',
      version: '1',
      instanceId: 'A',
      historyId: done.body.data.historyId,
      executionId,
      timerId: later.body.data.timerId,
      hash: (await api.get(`${deployment}/history/${done.body.data.historyId}`)).body.data.versionHash,
      webhookId: webhook.id,
      id: created(await api.post('/keys', { name: 'spare', scopes: ['read'] })).id,
    },
  };
}

/** Leaves nothing under way that would change rows later. */
async function runToItsEnd(api: ApiClient, deployment: string, execution: object): Promise<string> {
  const taken = await api.post(`${deployment}/execute`, execution, { prefer: 'respond-async' });
  const { executionId } = taken.body.data;
  await vi.waitFor(async () => {
    const { body } = await api.get(`${deployment}/executions/${executionId}`);
    expect(body.data.state).toBe('succeeded');
  });
  return executionId;
}
