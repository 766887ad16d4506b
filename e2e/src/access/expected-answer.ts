import type { RoutedOperation } from '../api/routed-operations.js';
import type { Visibility } from './world-paths.js';

export type CallerName = 'owner' | 'other' | 'revoked' | 'unscoped' | 'nobody';
export type Target =
  /** Of the owner: own to it, foreign to the other. */
  | { kind: 'owned'; visible: Visibility }
  /** A world that is not, with all that it would hold. */
  | { kind: 'nowhere' }
  /** A world of the owner without the last thing that the path names. */
  | { kind: 'leafless' };

/** `success`, or the status and code of the refusal. */
export type Expected = 'success' | readonly [status: number, code: string];

const notFound: Readonly<Record<string, string>> = {
  idOrAddress: 'world_not_found',
  worldAddress: 'world_not_found',
  schemaName: 'entity_schema_not_found',
  name: 'attribute_not_found',
  eventName: 'event_not_found',
  version: 'event_version_not_found',
  address: 'deployment_not_found',
  instanceId: 'entity_instance_not_found',
  historyId: 'history_entry_not_found',
  executionId: 'execution_not_found',
  timerId: 'timer_not_found',
  hash: 'definition_not_found',
  event: 'schedule_not_found',
  id: 'key_not_found',
  chain: 'push_not_found',
  webhookId: 'webhook_not_found',
};

export const parametersOf = ({ http }: RoutedOperation): string[] =>
  [...http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

/** Of the operations that take no key; the others say that sign-up is closed, unless the operator opens it. */
const PUBLIC: Readonly<Record<string, Expected>> = {
  'auth.methods': 'success',
  'auth.code': [401, 'sign_in_code_invalid'],
  // The operator takes nothing there.
  'payments.solana': [400, 'unknown_chain'],
};

/** What the contract's `access` means for a caller and a target. */
export function expectedAnswer(operation: RoutedOperation, caller: CallerName, target: Target): Expected {
  const { scope } = operation.access;
  const relation = isUnopened(operation) ? 'owner' : operation.access.relation;
  if (operation.http.signed === true) return [401, 'invalid_signature'];
  // Who knows the id of a public execution may read it: the worlds have none.
  if (operation.name === 'executions.getPublic') return [404, 'execution_not_found'];
  if (operation.http.opens !== undefined) return openedAnswer(operation, target);
  if (relation === 'public') return PUBLIC[operation.name] ?? [403, 'sign_up_closed'];
  if (caller === 'nobody' || caller === 'revoked') return [401, 'unauthorized'];
  if (caller === 'unscoped' && scope !== 'none') return [403, 'forbidden'];
  const parameters = parametersOf(operation);
  if (parameters.length === 0) return 'success';
  const first = parameters.includes('address') ? 'address' : parameters[0];
  if (target.kind === 'leafless') {
    // Who may not change a world is told so before anything in it is searched.
    const isRefused = caller === 'other' && relation === 'owner' && parameters.at(-1) !== first;
    return isRefused ? [403, 'forbidden'] : [404, codeOf(parameters.at(-1))];
  }
  if (target.kind === 'nowhere') return [404, codeOf(first)];
  if (caller !== 'other') return 'success';
  if (!isVisible(first, target.visible)) return [404, codeOf(first)];
  return relation === 'visible' ? 'success' : [403, 'forbidden'];
}

/** Definitions are the owner's where the deployment does not open them, and those of the matrix do not. */
const isUnopened = (operation: RoutedOperation): boolean => parametersOf(operation).at(-1) === 'hash';

/** Of a published deployment anyone is told the same, its owner too. */
function openedAnswer(operation: RoutedOperation, target: Target): Expected {
  const parameters = parametersOf(operation);
  const isThere = target.kind === 'owned' ? target.visible.deployment : target.kind === 'leafless';
  if (!isThere) return [404, codeOf('address')];
  if (isUnopened(operation)) return [403, 'forbidden'];
  return target.kind === 'leafless' ? [404, codeOf(parameters.at(-1))] : 'success';
}

function codeOf(parameter = ''): string {
  const code = notFound[parameter];
  if (code === undefined) throw new RangeError(`nothing is said of the path parameter ${parameter}`);
  return code;
}

/** A key is never seen by another account. */
function isVisible(first: string | undefined, { world, deployment }: Visibility): boolean {
  if (first === 'address') return deployment;
  return first === 'id' ? false : world;
}
