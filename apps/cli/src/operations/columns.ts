import type { RoutedRpc } from '@orrery/contracts';
import type { z } from 'zod';
import { membersOf } from './member.js';

const BINDING = ['event', 'eventVersion', 'targetChains', 'onchain'];
const AGGREGATE = ['group', 'count', 'sum', 'min', 'max', 'avg'];
const INSTANCE = ['entitySchema', 'instanceId', 'revision', 'state.*'];
const ENTRY = [
  'seq',
  'executedAt',
  'kind',
  'event',
  'eventVersion',
  'trigger',
  'status',
  'error.code',
  'stateChanges',
];

/**
 * The columns of a list's table, as dotted paths into its records; `state.*` is a column for each attribute. A list that
 * is not here shows what is no object.
 */
export const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  'worlds.list': ['id', 'name', 'address', 'isPublic', 'createdAt'],
  'entitySchemas.list': ['name', 'attributes', 'description'],
  'attributes.list': ['name', 'type', 'constraints', 'defaultValue', 'indexed'],
  'events.list': ['name', 'latestVersion', 'description'],
  'versions.list': [
    'version',
    'isLocked',
    'mutationSettings.mode',
    'executionSettings.visibility',
    'executionSettings.cron.schedule',
    'updatedAt',
  ],
  'deployments.list': ['id', 'name', 'address', 'mode', 'isPublic', 'isPaused', 'createdAt'],
  'bindings.list': BINDING,
  'bindings.add': BINDING,
  'bindings.update': BINDING,
  'instances.list': INSTANCE,
  'public.instances': INSTANCE,
  'instances.aggregate': AGGREGATE,
  'public.aggregate': AGGREGATE,
  'history.list': ENTRY,
  'public.history': ENTRY,
  'payments.list': [
    'createdAt',
    'event',
    'amount',
    'decimals',
    'network',
    'status',
    'seq',
    'transaction',
    'reason',
  ],
  'aiModels.list': ['modelId', 'modelDisplayName', 'contextLength', 'isDefault'],
  'timers.list': ['dueAt', 'event', 'key', 'input', 'cause.seq', 'executionId', 'timerId'],
  'schedules.list': ['event', 'eventVersion', 'schedule', 'timezone', 'status', 'nextAt', 'counter'],
  'occurrences.list': ['id', 'kind', 'dueAt', 'status', 'reason', 'outcome', 'seq', 'error.code'],
  'chains.list': ['name', 'caip2', 'family', 'status'],
  'pushes.list': [
    'historyId',
    'seq',
    'chain',
    'number',
    'head.size',
    'status',
    'block',
    'transaction',
    'error.code',
  ],
  'webhooks.list': ['id', 'url', 'events', 'status', 'state', 'seq', 'behind', 'problem.code'],
  'webhooks.deliveries': [
    'number',
    'kind',
    'seq',
    'event',
    'state',
    'attempts',
    'responseStatus',
    'problem.code',
    'durationMs',
    'attemptedAt',
  ],
  'keys.list': ['id', 'name', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt', 'madeBy'],
};

/** @param rows what is shown, which says which attributes there are */
export function columnsOf(rpc: RoutedRpc, rows: readonly object[]): string[] {
  const columns = COLUMNS[rpc.name] ?? scalarsOf(rpc);
  return columns.flatMap((column) =>
    column.endsWith('.*') ? membersBelow(column.slice(0, -2), rows) : [column],
  );
}

function scalarsOf({ reply }: RoutedRpc): string[] {
  const { data } = (reply as z.ZodObject<{ data: z.ZodType }>).shape;
  const members = membersOf(data).filter(({ kind }) => kind !== 'json' && kind !== 'value');
  return members.map(({ name }) => name);
}

const membersBelow = (path: string, rows: readonly object[]): string[] => [
  ...new Set(rows.flatMap((row) => Object.keys(at(row, path) ?? {}).map((name) => `${path}.${name}`))),
];

/** The names of attributes hold no dots. */
export const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((part, name) => memberOf(part, name), value);

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
