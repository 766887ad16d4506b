import { WEBHOOK_URL } from './webhook-url.js';
import type { WorldPaths } from './world-paths.js';

/** What a request holds besides the path parameters of its world; all of it valid, so that only access refuses it. */
export interface RequestParts {
  body?: unknown;
  /** A body that names something of the world. */
  bodyOf?: (world: WorldPaths) => unknown;
  query?: string;
  params?: (world: WorldPaths) => Record<string, string>;
}

const wallet = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
const firstVersion = { stateChanges: { horse: 'partial' }, behaviorPrompt: 'Let it run.' };

/** What a valid request needs beside its path, by the operation's name; the others need nothing. */
export const requests: Readonly<Partial<Record<string, RequestParts>>> = {
  'worlds.create': { body: { name: 'New' } },
  'worlds.update': { body: { description: 'changed' } },
  'worlds.delete': { params: ({ emptyWorld }) => ({ idOrAddress: emptyWorld }) },
  'entitySchemas.create': { body: { name: 'cart' } },
  'entitySchemas.update': { body: { description: 'changed' } },
  'entitySchemas.delete': { params: () => ({ schemaName: 'spare' }) },
  'attributes.create': { body: { name: 'speed', type: 'float' } },
  'attributes.update': { body: { constraints: { min: 0 } } },
  'events.create': { body: { name: 'new', firstVersion } },
  'events.update': { body: { description: 'changed' } },
  'events.delete': { params: () => ({ eventName: 'spare' }) },
  'versions.create': { body: firstVersion },
  'versions.update': { body: { behaviorPrompt: 'changed' } },
  'versions.delete': { params: () => ({ eventName: 'spare' }) },
  'deployments.create': { body: { name: 'New', bindings: [] } },
  'deployments.update': { body: { description: 'changed' } },
  'deployments.execute': { body: { event: 'run', input: { id: 'A' } } },
  'deployments.try': {
    body: { event: 'run', definition: { mutationSettings: { mode: 'direct', template: {} } } },
  },
  // A fork is never published: what others see of one is what they see of a deployment.
  'deployments.replay': {
    body: { seq: 2 },
    params: ({ deployment, fork, params }) => ({ address: deployment ? (params['address'] ?? '') : fork }),
  },
  'bindings.add': { body: [{ event: 'spare', eventVersion: 1 }] },
  'bindings.update': { body: [{ event: 'run', eventVersion: 1 }] },
  'bindings.remove': { query: '?event=run' },
  'history.proof': { query: '?seq=1&size=1' },
  'public.proof': { query: '?seq=1&size=1' },
  'history.consistency': { query: '?from=1&to=1' },
  'public.consistency': { query: '?from=1&to=1' },
  'instances.aggregate': { query: '?entitySchema=horse&sum=wins' },
  'public.aggregate': { query: '?entitySchema=horse&sum=wins' },
  'public.rank': { query: '?entitySchema=horse&orderBy=wins%20desc' },
  'instances.rank': { query: '?entitySchema=horse&orderBy=wins%20desc' },
  'instances.create': { body: { entitySchema: 'horse', instanceId: 'B' } },
  'instances.update': { body: { state: { wins: 9 } } },
  'instances.check': { body: { entitySchema: 'horse' } },
  'instances.map': { body: { entitySchema: 'horse', mapping: { wins: 9 } } },
  // Whose signature it is comes before everything that access could refuse.
  'public.execute': {
    body: { event: 'run', wallet, message: 'any text', signature: '5'.repeat(88) },
  },
  'public.executeEvent': {
    params: () => ({ event: 'run' }),
    body: { wallet, message: 'any text', signature: '5'.repeat(88) },
  },
  'worlds.check': { body: { events: [{ name: 'run', firstVersion: {} }] } },
  'cron.preview': { body: { schedule: '0 9 * * *' } },
  'pushes.retry': { params: () => ({ chain: 'base-sepolia' }) },
  'pushes.skip': { params: () => ({ chain: 'base-sepolia' }) },
  'webhooks.create': { body: { url: WEBHOOK_URL } },
  'webhooks.update': { body: { status: 'failed' } },
  'webhooks.redeliver': { bodyOf: ({ params }) => ({ historyId: params['historyId'] }) },
  'payments.solana': { query: '?network=solana%3Aother&asset=token' },
  'auth.challenge': { body: { wallet, purpose: 'key', scopes: ['read', 'write', 'execute', 'keys'] } },
  'auth.code': { body: { code: 'n'.repeat(43) } },
  'auth.token': { body: { wallet, message: 'any text', signature: '5'.repeat(88) } },
  'keys.create': { body: { name: 'new', scopes: ['read'] } },
};
