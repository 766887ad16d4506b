import { withClient } from '@orrery/testing/servers';
import type { Client } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { bootCatalog, OWNER, plantWorld, type RunningTestCatalog } from './running-catalog.js';

const WORLDS = 100_000;
const VERSIONS = 1_000;

/** The parts of PostgreSQL's plans that are looked at. */
interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  Plans?: Plan[];
}

describe('lists of a large catalog', () => {
  let catalog: RunningTestCatalog;
  let planted: Awaited<ReturnType<typeof plantWorld>>;
  beforeAll(async () => {
    catalog = await bootCatalog();
    planted = await plantWorld(catalog);
    // A connection without the catalog's bounds: a busy machine takes long for so many rows.
    await withClient(catalog.databaseUrl, plantMany);
  });

  async function plantMany(client: Client): Promise<void> {
    await client.query('set search_path = catalog');
    const address = `'0x' || lpad(to_hex(n), 40, '0')`;
    await client.query(`
      insert into worlds (address, owner_account_id, name, domain_tags, is_public, created_at, updated_at)
      select ${address}, 1000 + n % 50, 'World ' || n, '[]', n % 2 = 0, now(), now()
      from generate_series(1, ${WORLDS}) as n`);
    await client.query(`
      insert into world_counters select owner_account_id, count(*), count(*) filter (where is_public)
      from worlds where owner_account_id >= 1000 group by 1`);
    await client.query(`
      insert into world_counters (account_id, public_worlds) values (0, ${WORLDS / 2})
      on conflict (account_id) do update set public_worlds = excluded.public_worlds`);
    await client.query(`
      insert into event_versions (event_id, version, definition, created_at, updated_at)
      select ${planted.event.id}, n, definition, now(), now()
      from event_versions, generate_series(2, ${VERSIONS}) as n where event_id = ${planted.event.id}`);
    await client.query(`update events set last_version = ${VERSIONS}, version_count = ${VERSIONS}`);
    for (const [table, columns, values] of [
      ['entity_schemas', 'world_id, definition, hash', `${planted.world.id}, '[]', ''`],
      ['events', 'world_id', `${planted.world.id}`],
      ['attributes', 'schema_id, type', `${planted.schema.id}, 'json'`],
    ])
      await client.query(`
        insert into ${table} (name, created_at, updated_at, ${columns})
        select 'filler ' || n, now(), now(), ${values} from generate_series(1, 5000) as n`);
    await client.query(`insert into world_counters select n from generate_series(10000, 20000) as n`);
    await client.query('analyze');
  }

  it('pages through all visible worlds in order, with their number, also deep down', async () => {
    const { data, pagination } = await catalog.call('worlds.list', { query: { page: '400', limit: '100' } });
    expect(data).toHaveLength(100);
    expect(pagination).toMatchObject({ total: WORLDS / 2 + 1, totalPages: 501 });
    const ids = data.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    const next = await catalog.call('worlds.list', { query: { page: '401', limit: '100' } });
    expect(next.data[0]?.id).toBeGreaterThan(ids.at(-1) ?? Number.POSITIVE_INFINITY);
  });

  it('pages through 1,000 versions', async () => {
    const params = { ...planted.inWorld, eventName: 'race' };
    const { data, pagination } = await catalog.call('versions.list', {
      params,
      query: { page: '10', limit: '100' },
    });
    expect(data.map(({ version }) => version)).toEqual(
      Array.from({ length: 100 }, (_, index) => 901 + index),
    );
    expect(pagination.total).toBe(VERSIONS);
  });

  const lists: [string, () => Promise<unknown>][] = [
    ['visible worlds', () => catalog.call('worlds.list', {}, 1001)],
    ['own worlds', () => catalog.call('worlds.list', { query: { owner: 'me' } }, 1001)],
    ['schemas', () => catalog.call('entitySchemas.list', { params: planted.inWorld })],
    [
      'attributes',
      () => catalog.call('attributes.list', { params: { ...planted.inWorld, schemaName: 'horse' } }),
    ],
    ['events', () => catalog.call('events.list', { params: planted.inWorld })],
    ['versions', () => catalog.call('versions.list', { params: { ...planted.inWorld, eventName: 'race' } })],
  ];

  it.each(lists)('reads an index, and no more rows than it shows: %s', async (_what, list) => {
    const plans = await plansOf(list);
    expect(plans.length).toBeGreaterThan(0);
    for (const plan of plans.flatMap(nodesOf)) {
      expect(plan['Node Type']).not.toBe('Seq Scan');
      expect(plan['Node Type']).not.toMatch(/Sort/);
    }
  });

  it('reads a deep page from indexes too, and no row beyond its end', async () => {
    const plans = await plansOf(() =>
      catalog.call('worlds.list', { query: { page: '500', limit: '100' } }, OWNER),
    );
    for (const plan of plans.flatMap(nodesOf)) {
      expect(plan['Node Type']).not.toBe('Seq Scan');
      // Only the page itself may be sorted, never what comes before it.
      const rows = /Sort/.test(plan['Node Type']) ? 100 : 50_000;
      expect(plan['Actual Rows']).toBeLessThanOrEqual(rows);
    }
  });

  const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

  /** Plans of the selects that a call makes: each is run once more, explained. */
  async function plansOf(call: () => Promise<unknown>): Promise<Plan[]> {
    const statements: { sql: string; parameters: readonly unknown[] }[] = [];
    const stop = catalog.watchStatements((sql, parameters) => statements.push({ sql, parameters }));
    await call().finally(stop);
    const plans: Plan[] = [];
    for (const { sql, parameters } of statements.filter(({ sql: text }) => /^\s*select/i.test(text))) {
      const { rows } = await catalog.pool.query(`explain (analyze, format json) ${sql}`, [...parameters]);
      plans.push(rows[0]['QUERY PLAN'][0].Plan);
    }
    return plans;
  }
});
