import type { Place } from './place.js';

/** What a request holds besides the place's own path parameters; all of it valid, so that only access refuses it. */
export interface RequestParts {
  body?: unknown;
  query?: string;
  params?: (place: Place) => Record<string, string>;
}

const nothing: RequestParts = {};
const wallet = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
const firstVersion = { stateChanges: { horse: 'partial' }, behaviorPrompt: 'Let it run.' };

/** A valid request for every operation, by name. A new operation needs a line here. */
export const requests: Readonly<Record<string, RequestParts>> = {
  'worlds.list': nothing,
  'worlds.create': { body: { name: 'New' } },
  'worlds.get': nothing,
  'worlds.update': { body: { description: 'changed' } },
  'worlds.publish': nothing,
  'worlds.unpublish': nothing,
  'worlds.delete': { params: ({ emptyWorld }) => ({ idOrAddress: emptyWorld }) },
  'entitySchemas.list': nothing,
  'entitySchemas.create': { body: { name: 'cart' } },
  'entitySchemas.get': nothing,
  'entitySchemas.update': { body: { description: 'changed' } },
  'entitySchemas.delete': { params: () => ({ schemaName: 'spare' }) },
  'attributes.list': nothing,
  'attributes.create': { body: { name: 'speed', type: 'float' } },
  'attributes.get': nothing,
  'attributes.update': { body: { constraints: { min: 0 } } },
  'attributes.delete': nothing,
  'events.list': nothing,
  'events.create': { body: { name: 'new', firstVersion } },
  'events.get': nothing,
  'events.update': { body: { description: 'changed' } },
  'events.delete': { params: () => ({ eventName: 'spare' }) },
  'versions.list': nothing,
  'versions.create': { body: firstVersion },
  'versions.get': nothing,
  'versions.update': { body: { behaviorPrompt: 'changed' } },
  'versions.lock': nothing,
  'versions.delete': { params: () => ({ eventName: 'spare' }) },
  'deployments.list': nothing,
  'deployments.create': { body: { name: 'New', bindings: [] } },
  'deployments.get': nothing,
  'deployments.update': { body: { description: 'changed' } },
  'deployments.delete': nothing,
  'deployments.lock': nothing,
  'deployments.publish': nothing,
  'deployments.unpublish': nothing,
  'deployments.pause': nothing,
  'deployments.resume': nothing,
  'deployments.execute': { body: { event: 'run', input: { id: 'A' } } },
  'deployments.stream': nothing,
  'executions.get': nothing,
  'bindings.list': nothing,
  'bindings.add': { body: [{ event: 'spare', eventVersion: 1 }] },
  'bindings.update': { body: [{ event: 'run', eventVersion: 1 }] },
  'bindings.remove': { query: '?event=run' },
  'instances.list': nothing,
  'instances.create': { body: { entitySchema: 'horse', instanceId: 'B' } },
  'instances.get': nothing,
  'instances.update': { body: { state: { wins: 9 } } },
  'instances.delete': nothing,
  'history.list': nothing,
  'history.verify': nothing,
  'history.get': nothing,
  'payments.list': nothing,
  'deployments.usage': nothing,
  'aiModels.list': nothing,
  'limits.get': nothing,
  // Whose signature it is comes before everything that access could refuse.
  'public.execute': {
    body: { event: 'run', wallet, message: 'any text', signature: '5'.repeat(88) },
  },
  'schedules.list': nothing,
  'schedules.pause': nothing,
  'schedules.resume': nothing,
  'schedules.run': nothing,
  'occurrences.list': nothing,
  'cron.preview': { body: { schedule: '0 9 * * *' } },
  'chains.list': nothing,
  'pushes.list': nothing,
  'pushes.retry': { params: () => ({ chain: 'base-sepolia' }) },
  'pushes.skip': { params: () => ({ chain: 'base-sepolia' }) },
  'auth.challenge': { body: { wallet } },
  'auth.token': { body: { wallet, message: 'any text', signature: '5'.repeat(88) } },
  'keys.list': nothing,
  'keys.create': { body: { name: 'new', scopes: ['read'] } },
  'keys.rotate': nothing,
  'keys.revoke': nothing,
  'accounts.me': nothing,
};
