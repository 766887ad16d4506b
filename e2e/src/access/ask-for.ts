import { requestPath } from '@orrery/contracts';
import type { ApiAnswer, CheckedRequests } from '../api/api-client.js';
import type { RoutedOperation } from '../api/routed-operations.js';
import { parametersOf, type Target } from './expected-answer.js';
import { requests } from './requests.js';
import type { WorldPaths } from './world-paths.js';

/** What no one has: as addresses, numbers and names go. */
const absent: Readonly<Record<string, string>> = {
  idOrAddress: `0x${'0'.repeat(40)}`,
  worldAddress: `0x${'0'.repeat(40)}`,
  address: `0x${'0'.repeat(40)}`,
  version: '999',
};

/** Asks for an operation on a world, or on what is not there. */
export function askFor(
  ask: CheckedRequests,
  operation: RoutedOperation,
  world: WorldPaths,
  kind: Target['kind'] = 'owned',
): Promise<ApiAnswer> {
  const parts = requests[operation.name];
  if (parts === undefined) throw new RangeError(`${operation.name} has no request in the access matrix`);
  const parameters = parametersOf(operation);
  const gone = kind === 'nowhere' ? parameters : kind === 'leafless' ? parameters.slice(-1) : [];
  const params = {
    ...world.params,
    ...parts.params?.(world),
    ...Object.fromEntries(gone.map((name) => [name, absent[name] ?? 'absent'])),
  };
  const body = parts.body === undefined ? undefined : JSON.stringify(parts.body);
  return ask(operation.http.method, `${requestPath(operation.http, params)}${parts.query ?? ''}`, body);
}
