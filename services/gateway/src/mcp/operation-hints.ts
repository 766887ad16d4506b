import type { RoutedRpc } from '../core/requests/operation.js';

/** Operations that only add: nothing is replaced, removed or made final, and nothing is executed. */
const ADDING: ReadonlySet<string> = new Set([
  'worlds.create',
  'entitySchemas.create',
  'attributes.create',
  'events.create',
  'versions.create',
  'deployments.create',
  'bindings.add',
  'instances.create',
  'webhooks.create',
  'keys.create',
]);

/** What a key may do that may only read changes nothing, whichever its method. */
export const isReading = ({ http, access }: RoutedRpc): boolean =>
  http.method === 'GET' || access.scope === 'read';

/** What a client may take for granted, before it asks its user: `destructiveHint` is true where it is absent. */
export const hintsOf = (rpc: RoutedRpc): { readOnlyHint: boolean; destructiveHint?: false } => ({
  readOnlyHint: isReading(rpc),
  ...((isReading(rpc) || ADDING.has(rpc.name)) && { destructiveHint: false }),
});
