import { expect, it } from 'vitest';
import { requestParts } from '../core/requests/request-schema.js';
import { operationTools } from './account-server.js';
import { hintsOf } from './operation-hints.js';

it('gives each operation for a key a name and arguments of its own', () => {
  const tools = operationTools();
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  for (const { name, rpc, inputSchema } of tools) {
    expect(name).toMatch(/^[A-Za-z_]{1,64}$/);
    const { params, query, headers } = requestParts(rpc);
    const names = [params, query, headers].flatMap((part) =>
      Object.keys((part as never as { shape: object }).shape),
    );
    expect(new Set(names).size, name).toBe(names.length);
    expect(names).not.toContain('body');
    expect(Object.keys(inputSchema.properties as object)).toEqual(expect.arrayContaining(names));
  }
});

/** `destructiveHint` is true where it is absent; false says that a call adds, and does nothing else. */
it('says of each operation whether it only reads, or only adds', () => {
  const reads = { readOnlyHint: true, destructiveHint: false };
  const adds = { readOnlyHint: false, destructiveHint: false };
  const changes = { readOnlyHint: false };
  const hints = new Map(operationTools().map(({ name, rpc }) => [name, hintsOf(rpc)]));
  expect(Object.fromEntries(hints)).toMatchObject({
    worlds_get: reads,
    keys_list: reads,
    worlds_check: reads,
    cron_preview: reads,
    instances_check: reads,
  });
  for (const name of [
    'deployments_lock',
    'versions_lock',
    'versions_update',
    'instances_update',
    'instances_map',
    'instances_delete',
    'bindings_update',
    'bindings_remove',
    'keys_rotate',
    'keys_revoke',
    'pushes_skip',
    'webhooks_rotateSecret',
    'deployments_execute',
    'deployments_try',
    'schedules_run',
  ])
    expect(hints.get(name), name).toEqual(changes);
  const adding = [...hints].filter(([, one]) => !one.readOnlyHint && one.destructiveHint === false);
  expect(adding.map(([name]) => name).sort()).toEqual([
    'attributes_create',
    'bindings_add',
    'deployments_create',
    'entitySchemas_create',
    'events_create',
    'instances_create',
    'keys_create',
    'versions_create',
    'webhooks_create',
    'worlds_create',
  ]);
  expect(hints.get('worlds_create')).toEqual(adds);
});
