import { catalogContract, ERRORS, type ErrorCode, isErrorCode, type Rpc } from '@orrery/contracts';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  bootCatalog,
  codeOf,
  deploymentAddress,
  OTHER,
  OWNER,
  plantWorld,
  type RpcName,
  type RunningTestCatalog,
  raceVersion,
  type Sent,
  unique,
} from './running-catalog.js';

/**
 * Every public route × every outcome that its contract allows: success, a thing of another account (hidden and
 * visible), a malformed request, and each code in `errors`. Outcomes that all routes share are made from one good
 * request per route; the others are written out, and one that is missing fails.
 */
const routes = Object.entries<Rpc>(catalogContract.rpcs).filter(([, rpc]) => rpc.http !== undefined) as [
  RpcName,
  Rpc,
][];

let catalog: RunningTestCatalog;
let planted: Awaited<ReturnType<typeof plantWorld>>;
const inWorld = () => planted.inWorld;
const horse = () => ({ ...inWorld(), schemaName: 'horse' });
const wins = () => ({ ...horse(), name: 'wins' });
const race = () => ({ ...inWorld(), eventName: 'race' });
const one = () => ({ ...race(), version: '1' });
const world = () => ({ idOrAddress: planted.world.address });

/** A request that succeeds on a freshly planted world. */
const GOOD: Record<string, () => Sent> = {
  'worlds.list': () => ({}),
  'worlds.create': () => ({ body: { name: unique('world') } }),
  'worlds.check': () => ({ body: { events: [{ name: 'checked', firstVersion: {} }] } }),
  'worlds.get': () => ({ params: world() }),
  'worlds.update': () => ({ params: world(), body: { name: 'New' } }),
  'worlds.publish': () => ({ params: world() }),
  'worlds.unpublish': () => ({ params: world() }),
  'worlds.delete': () => ({ params: world() }),
  'entitySchemas.list': () => ({ params: inWorld() }),
  'entitySchemas.create': () => ({ params: inWorld(), body: { name: 'jockey' } }),
  'entitySchemas.get': () => ({ params: horse() }),
  'entitySchemas.update': () => ({ params: horse(), body: { description: 'Trots' } }),
  'entitySchemas.delete': () => ({ params: { ...inWorld(), schemaName: 'spare' } }),
  'attributes.list': () => ({ params: horse() }),
  'attributes.create': () => ({ params: horse(), body: { name: 'mane', type: 'string' } }),
  'attributes.get': () => ({ params: wins() }),
  'attributes.update': () => ({ params: wins(), body: { defaultValue: 2 } }),
  'attributes.delete': () => ({ params: wins() }),
  'events.list': () => ({ params: inWorld() }),
  'events.create': () => ({ params: inWorld(), body: { name: 'walk', firstVersion: raceVersion } }),
  'events.get': () => ({ params: race() }),
  'events.update': () => ({ params: race(), body: { name: 'dash' } }),
  'events.delete': () => ({ params: race() }),
  'versions.list': () => ({ params: race() }),
  'versions.create': () => ({ params: race(), body: raceVersion }),
  'versions.get': () => ({ params: one() }),
  'versions.update': () => ({ params: one(), body: { behaviorPrompt: 'Think.' } }),
  'versions.lock': () => ({ params: one() }),
  'versions.delete': () => ({ params: one() }),
};

type Attempt = (send: (sent?: Sent, account?: number) => Promise<unknown>) => Promise<unknown>;
type Outcome = 'success' | 'foreign' | ErrorCode;

const bindRace = () =>
  catalog.ask('claims.versions', {
    worldId: planted.world.id,
    deployment: deploymentAddress(),
    versions: [{ event: 'race', version: 1 }],
  });
const lockRace = () => catalog.call('versions.lock', { params: one() });

/** Each wrong version is refused by every route that takes one, at its own place. */
const WRONG_VERSIONS: Partial<Record<ErrorCode, object>> = {
  conflicting_fields: { stateChanges: {}, stateChangeSchema: { horse: 'full' } },
  template_required: { mutationSettings: { mode: 'direct', template: null } },
  invalid_template: { mutationSettings: { mode: 'direct', template: { 'horse:H': { a: '{{' } } } },
  behavior_prompt_required: { mutationSettings: { mode: 'ai', behaviorPrompt: '' } },
  invalid_cron_schedule: { executionSettings: { visibility: 'cron', cron: { schedule: 'daily' } } },
  unknown_entity_schema: { readEntities: [{ schema: 'cat' }] },
};
const wrongVersions = (sent: (version: object) => Sent): Record<string, Attempt> =>
  Object.fromEntries(
    Object.entries(WRONG_VERSIONS).map(([code, version]) => [code, (send) => send(sent(version))]),
  );

/** Outcomes that belong to one route. */
const OWN: Record<string, Record<string, Attempt>> = {
  'worlds.create': {
    quota_exceeded: async (send) => {
      await sql`insert into account_quotas values (99, 0, 1) on conflict do nothing`.execute(catalog.db);
      return send(undefined, 99);
    },
  },
  'worlds.delete': {
    world_in_use: async (send) => {
      await catalog.ask('claims.world', { world: planted.world.address, deployment: deploymentAddress() });
      return send();
    },
  },
  'entitySchemas.create': {
    entity_schema_exists: (send) => send({ params: inWorld(), body: { name: 'horse' } }),
    attribute_exists: (send) => {
      const attribute = { name: 'a', type: 'json' };
      return send({ params: inWorld(), body: { name: 'jockey', attributes: [attribute, attribute] } });
    },
    limit_reached: async (send) => {
      await send();
      return send({ params: inWorld(), body: { name: 'fourth' } });
    },
  },
  'entitySchemas.update': {
    entity_schema_exists: (send) =>
      send({ params: { ...inWorld(), schemaName: 'spare' }, body: { name: 'horse' } }),
    entity_schema_in_use: (send) => send({ params: horse(), body: { name: 'pony' } }),
  },
  'entitySchemas.delete': { entity_schema_in_use: (send) => send({ params: horse() }) },
  'attributes.create': {
    attribute_exists: (send) => send({ params: horse(), body: { name: 'wins', type: 'json' } }),
    limit_reached: async (send) => {
      await send();
      return send({ params: horse(), body: { name: 'fourth', type: 'json' } });
    },
  },
  'attributes.update': {
    attribute_exists: (send) => send({ params: wins(), body: { name: 'speed' } }),
    limit_reached: async (send) => {
      const params = { ...inWorld(), schemaName: 'spare' };
      const body = { name: 'text', type: 'string', defaultValue: 'x'.repeat(9_000) };
      await catalog.call('attributes.create', { params, body });
      const constraints = { enum: ['x'.repeat(4_000)] };
      return send({ params: wins(), body: { type: 'string', constraints, defaultValue: null } });
    },
  },
  'events.create': {
    event_exists: (send) => send({ params: inWorld(), body: { name: 'race', firstVersion: {} } }),
    limit_reached: async (send) => {
      await send();
      return send({ params: inWorld(), body: { name: 'third', firstVersion: {} } });
    },
    ...wrongVersions((firstVersion) => ({ params: inWorld(), body: { name: 'walk', firstVersion } })),
  },
  'events.update': {
    event_exists: async (send) => {
      await catalog.call('events.create', { params: inWorld(), body: { name: 'dash', firstVersion: {} } });
      return send();
    },
    event_in_use: async (send) => {
      await bindRace();
      return send();
    },
  },
  'events.delete': {
    event_in_use: async (send) => {
      await bindRace();
      return send();
    },
    version_locked: async (send) => {
      await lockRace();
      return send();
    },
  },
  'versions.create': {
    limit_reached: async (send) => {
      await send();
      return send();
    },
    ...wrongVersions((body) => ({ params: race(), body })),
  },
  'versions.update': {
    version_locked: async (send) => {
      await lockRace();
      return send();
    },
    ...wrongVersions((body) => ({ params: one(), body })),
  },
  'versions.delete': {
    version_locked: async (send) => {
      await lockRace();
      return send();
    },
    event_version_in_use: async (send) => {
      await bindRace();
      return send();
    },
  },
};

const UNKNOWN: Partial<Record<ErrorCode, Record<string, string>>> = {
  world_not_found: { idOrAddress: `0x${'0'.repeat(40)}`, worldAddress: '999999999' },
  entity_schema_not_found: { schemaName: 'nothing' },
  attribute_not_found: { name: 'nothing' },
  event_not_found: { eventName: 'nothing' },
  event_version_not_found: { version: '99' },
};

/** A route's good request with what does not exist in its path. */
const absent = (route: RpcName, code: ErrorCode): Attempt => {
  const unknown = UNKNOWN[code] ?? {};
  return (send) => {
    const good = GOOD[route]?.() ?? {};
    const params = Object.fromEntries(
      Object.entries(good.params ?? {}).map(([name, value]) => [name, unknown[name] ?? value]),
    );
    return send({ ...good, params });
  };
};

const KEY = { 'idempotency-key': 'the-key' };
/** What makes a creation's body another one, where it is not a description. */
const DIFFERENCE: Partial<Record<RpcName, object>> = {
  'attributes.create': { type: 'json' },
  'versions.create': { behaviorPrompt: 'other' },
};
const SHARED: Partial<Record<Outcome, (route: RpcName) => Attempt>> = {
  success: () => (send) => send(),
  foreign: () => (send) => send(undefined, OTHER),
  forbidden: () => async (send) => {
    await catalog.call('worlds.publish', { params: world() });
    return send(undefined, OTHER);
  },
  validation_failed: (route) => (send) => {
    const good = GOOD[route]?.() ?? {};
    return send({ ...good, body: { ...(good.body as object | undefined), nonsense: 1 } });
  },
  revision_mismatch: (route) => (send) => send({ ...GOOD[route]?.(), headers: { 'if-match': '"other"' } }),
  page_too_deep: (route) => (send) => send({ ...GOOD[route]?.(), query: { page: '1001', limit: '100' } }),
  idempotency_key_reused: (route) => async (send) => {
    const good = GOOD[route]?.() ?? {};
    const different = DIFFERENCE[route] ?? { description: 'other' };
    await send({ ...good, headers: KEY });
    return send({ ...good, headers: KEY, body: { ...(good.body as object), ...different } });
  },
  request_in_flight: (route) => async (send) => {
    const sent = { ...GOOD[route]?.(), headers: { 'idempotency-key': unique('key') } };
    await send(sent);
    await sql`update idempotency_keys set reply = null`.execute(catalog.db);
    return send(sent);
  },
};

/** What a route can end with, by its contract alone. */
function outcomesOf({ access, errors }: Rpc): Outcome[] {
  const outcomes: Outcome[] = ['success', 'validation_failed', ...errors];
  if (access.relation === 'visible' || access.relation === 'owner') outcomes.push('foreign');
  if (access.relation === 'owner') outcomes.push('forbidden');
  return outcomes;
}

function attemptAt(route: RpcName, outcome: Outcome): Attempt | undefined {
  if (outcome in UNKNOWN) return absent(route, outcome as ErrorCode);
  return OWN[route]?.[outcome] ?? SHARED[outcome]?.(route);
}

describe('outcomes of the catalog', () => {
  beforeAll(async () => {
    const limits = {
      schemasPerWorld: 3,
      attributesPerSchema: 3,
      eventsPerWorld: 2,
      versionsPerEvent: 2,
      schemaBytes: 10_000,
      versionBytes: 10_000,
      worldSchemaBytes: 12_000,
    };
    catalog = await bootCatalog({ limits });
  });
  beforeEach(async () => {
    planted = await plantWorld(catalog);
    await catalog.call('entitySchemas.create', { params: inWorld(), body: { name: 'spare' } });
  });

  it('covers the 29 routes and no outcome that the contract does not know', () => {
    expect(routes).toHaveLength(29);
    expect(Object.keys(GOOD).sort()).toEqual(routes.map(([name]) => name).sort());
    for (const [name, own] of Object.entries(OWN)) {
      const known = catalogContract.rpcs[name as RpcName].errors as readonly string[];
      expect(Object.keys(own).filter((code) => !known.includes(code))).toEqual([]);
    }
  });

  describe.each(routes)('%s', (route, rpc) => {
    it.each(outcomesOf(rpc))('%s', async (outcome) => {
      const attempt = attemptAt(route, outcome);
      if (attempt === undefined) throw new Error(`no test case for ${route} → ${outcome}`);
      const send = (sent: Sent = GOOD[route]?.() ?? {}, account = OWNER) =>
        catalog.call(route, sent, account);
      if (outcome === 'success') expect(await attempt(send)).toHaveProperty('data');
      else expect(await codeOf(attempt(send))).toBe(outcome === 'foreign' ? 'world_not_found' : outcome);
      if (isErrorCode(outcome)) expect(ERRORS[outcome].status).toBeLessThan(500);
    });
  });
});
