import { requestPath, type Scope } from '@orrery/contracts';
import { BUILT_COMMAND, type System, startNode } from '@orrery/testing/system';
import {
  type ApiAnswer,
  apiClient,
  type CheckedRequests,
  checkedRequests,
  created,
} from '../api/api-client.js';
import type { RoutedOperation } from '../api/routed-operations.js';
import { type CallerName, parametersOf, type Target } from './expected-answer.js';
import { requests } from './requests.js';
import type { WorldPaths } from './world-paths.js';

const scopes: readonly Scope[] = ['read', 'write', 'execute', 'keys'];

/** Asks on behalf of a caller; the unscoped one holds every scope but the one that is asked for. */
export type Callers = (name: CallerName, scope: Scope | 'none') => CheckedRequests;

/** Makes the keys of the callers: the first account owns, the operator makes another. */
export async function makeCallers({ url, key, databaseUrl }: System): Promise<Callers> {
  const api = apiClient(url, key);
  const newKey = async (held: readonly Scope[]) =>
    created(await api.post('/keys', { name: 'caller', scopes: held }));
  const revoked = await newKey(scopes);
  await api.delete(`/keys/${revoked.id}`);
  const asking = {
    owner: checkedRequests(url, key),
    other: checkedRequests(url, await keyOfAnother({ DATABASE_URL: databaseUrl })),
    revoked: checkedRequests(url, revoked.token),
    nobody: checkedRequests(url),
  };
  const lacking = new Map<string, CheckedRequests>([['none', asking.owner]]);
  for (const scope of scopes) {
    const { token } = await newKey(scopes.filter((one) => one !== scope));
    lacking.set(scope, checkedRequests(url, token));
  }
  return (name, scope) => (name === 'unscoped' ? (lacking.get(scope) ?? asking.owner) : asking[name]);
}

/** A key of a new account with every scope. */
export async function keyOfAnother(env: Record<string, string>): Promise<string> {
  const args = ['keys', 'create', '--name', 'other'];
  await using command = startNode(BUILT_COMMAND, env, { args });
  const [key] = await command.waitFor(/orrery_\w+/);
  return key;
}

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
  const parts = requests[operation.name] ?? {};
  const parameters = parametersOf(operation);
  const gone = kind === 'nowhere' ? parameters : kind === 'leafless' ? parameters.slice(-1) : [];
  const params = {
    ...world.params,
    ...parts.params?.(world),
    ...Object.fromEntries(gone.map((name) => [name, absent[name] ?? 'absent'])),
  };
  const sent = parts.bodyOf?.(world) ?? parts.body;
  const body = sent === undefined ? undefined : JSON.stringify(sent);
  return ask(operation.http.method, `${requestPath(operation.http, params)}${parts.query ?? ''}`, body);
}
