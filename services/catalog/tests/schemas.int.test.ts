import { beforeAll, describe, expect, it, vi } from 'vitest';
import {
  bootCatalog,
  codeOf,
  deploymentAddress,
  plantWorld,
  type RunningTestCatalog,
  refusalOf,
  unique,
} from './running-catalog.js';

describe('entity schemas and attributes', () => {
  let catalog: RunningTestCatalog;
  let planted: Awaited<ReturnType<typeof plantWorld>>;
  beforeAll(async () => {
    catalog = await bootCatalog();
    planted = await plantWorld(catalog);
  });
  const inHorse = () => ({ ...planted.inWorld, schemaName: 'horse' });
  const createSchema = (body: object) =>
    catalog.call('entitySchemas.create', { params: planted.inWorld, body });

  it('creates a schema with its attributes in the order sent', () => {
    expect(planted.schema).toMatchObject({
      worldId: planted.world.id,
      name: 'horse',
      attributes: [
        { name: 'wins', type: 'integer', constraints: { min: 0 }, defaultValue: 0 },
        { name: 'speed', type: 'float', constraints: null, defaultValue: null },
      ],
    });
  });

  it('creates nothing when one attribute contradicts itself', async () => {
    const attributes = [
      { name: 'good', type: 'string' },
      { name: 'bad', type: 'integer', constraints: { min: 3, max: 1 } },
    ];
    const refusal = await refusalOf(createSchema({ name: 'half', attributes }));
    expect(refusal.code).toBe('validation_failed');
    expect(refusal.errors[0]?.pointer).toMatch(/^\/attributes\/1\/constraints/);
    const params = { ...planted.inWorld, schemaName: 'half' };
    expect(await codeOf(catalog.call('entitySchemas.get', { params }))).toBe('entity_schema_not_found');
  });

  it.each([
    ['a default that breaks its constraints', { type: 'integer', constraints: { max: 1 }, defaultValue: 2 }],
    ['a default of another type', { type: 'boolean', defaultValue: 'yes' }],
    ['a default outside the enum', { type: 'string', constraints: { enum: ['a'] }, defaultValue: 'b' }],
    ['a pattern that is none', { type: 'string', constraints: { pattern: '(' } }],
    ['a pattern with a backreference', { type: 'string', constraints: { pattern: '(a)\\1' } }],
    ['bounds on a text', { type: 'string', constraints: { min: 1 } }],
    ['an index of JSON', { type: 'json', indexed: true }],
    ['an unknown type', { type: 'date' }],
    ['an unknown constraint', { type: 'string', constraints: { maxLength: 3 } }],
  ])('refuses %s', async (_what, attribute) => {
    const body = { name: 'odd', ...attribute };
    expect(await codeOf(catalog.call('attributes.create', { params: inHorse(), body }))).toBe(
      'validation_failed',
    );
  });

  it('refuses an attribute twice in one schema, at its place', async () => {
    const attributes = [
      { name: 'same', type: 'string' },
      { name: 'same', type: 'float' },
    ];
    const refusal = await refusalOf(createSchema({ name: 'twice', attributes }));
    expect([refusal.code, refusal.errors[0]?.pointer]).toEqual(['attribute_exists', '/attributes/1/name']);
  });

  it.each(['a:b', ' a', 'a ', 'a\u0007b', '', 'x'.repeat(256), '__proto__'])(
    'refuses the schema name %j',
    async (name) => {
      expect(await codeOf(createSchema({ name }))).toBe('validation_failed');
    },
  );

  it.each(['a.b', 'a{{b', '$a', 'constructor'])('refuses the attribute name %j', async (name) => {
    const body = { name, type: 'json' };
    expect(await codeOf(catalog.call('attributes.create', { params: inHorse(), body }))).toBe(
      'validation_failed',
    );
  });

  it('says which attributes are indexed, in no hash, and lists their schemas', async () => {
    const hashOf = async () => {
      const request = {
        versions: [],
        worlds: [],
        schemas: [{ worldId: planted.world.id, name: 'board', hash: '' }],
      };
      const [answer] = (await catalog.ask('definitions.confirm', request)).schemas;
      return answer?.state === 'changed' ? answer.definition : undefined;
    };
    const attributes = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
      name,
      type: 'integer',
      indexed: name < 'e',
    }));
    const { data: schema } = await createSchema({ name: 'board', attributes });
    expect(schema.attributes.map(({ indexed }) => indexed)).toEqual([true, true, true, true, false]);
    const before = await hashOf();
    const params = { ...planted.inWorld, schemaName: 'board' };
    const set = (name: string, indexed: boolean) =>
      catalog.call('attributes.update', { params: { ...params, name }, body: { indexed } });
    expect(await codeOf(set('e', true))).toBe('limit_reached');
    expect((await set('a', false)).data).toMatchObject({ type: 'integer', indexed: false });
    expect((await set('e', true)).data.indexed).toBe(true);
    expect(
      await codeOf(
        createSchema({
          name: 'more',
          attributes: [...attributes, { name: 'f', type: 'float', indexed: true }],
        }),
      ),
    ).toBe('limit_reached');
    expect(await hashOf()).toEqual(before);
    const listed = await catalog.ask('definitions.indexed', { after: schema.id - 1 });
    expect(listed).toEqual({
      schemas: [{ schemaId: schema.id, attributes: expect.arrayContaining(['b', 'c', 'd', 'e']) }],
      next: null,
    });
  });

  it('takes names of 255 characters after NFC and finds them in any normal form', async () => {
    const name = 'e\u0301'.repeat(255);
    const { data } = await createSchema({ name });
    expect(data.name).toBe('é'.repeat(255));
    const params = { ...planted.inWorld, schemaName: name };
    expect((await catalog.call('entitySchemas.get', { params })).data.id).toBe(data.id);
  });

  it('changes an attribute: absent stays, constraints are replaced whole, null removes', async () => {
    const body = {
      name: 'mood',
      type: 'string',
      constraints: { enum: ['calm'], required: true },
      defaultValue: 'calm',
    };
    await catalog.call('attributes.create', { params: inHorse(), body });
    const params = { ...inHorse(), name: 'mood' };
    const change = async (patch: object) =>
      (await catalog.call('attributes.update', { params, body: patch })).data;
    expect(await change({ constraints: { enum: ['calm', 'wild'] } })).toMatchObject({
      constraints: { enum: ['calm', 'wild'] },
      defaultValue: 'calm',
    });
    expect(await change({ constraints: null, defaultValue: null })).toMatchObject({
      type: 'string',
      constraints: null,
      defaultValue: null,
    });
    const refusal = await refusalOf(change({ name: 'wins' }));
    expect([refusal.code, refusal.errors[0]?.pointer]).toEqual(['attribute_exists', '/name']);
    expect(await change({ name: 'temper' })).toMatchObject({ name: 'temper' });
    expect(await codeOf(change({}))).toBe('attribute_not_found');
  });

  it('lists attributes with their number', async () => {
    const { data, pagination } = await catalog.call('attributes.list', {
      params: inHorse(),
      query: { limit: '1' },
    });
    expect(data.map(({ name }) => name)).toEqual(['wins']);
    const { data: whole } = await catalog.call('entitySchemas.get', { params: inHorse() });
    expect(pagination.total).toBe(whole.attributes.length);
  });

  it('keeps the name of a schema that a version names, and the schema', async () => {
    const params = inHorse();
    expect(await codeOf(catalog.call('entitySchemas.update', { params, body: { name: 'pony' } }))).toBe(
      'entity_schema_in_use',
    );
    expect(await codeOf(catalog.call('entitySchemas.delete', { params }))).toBe('entity_schema_in_use');
    const { data } = await catalog.call('entitySchemas.update', {
      params,
      body: { name: 'horse', description: 'Trots' },
    });
    expect(data).toMatchObject({ name: 'horse', description: 'Trots' });
  });

  it('keeps a schema that instances use', async () => {
    await createSchema({ name: 'jockey' });
    const deployment = deploymentAddress();
    await catalog.ask('claims.schemas', { worldId: planted.world.id, deployment, schemas: ['jockey'] });
    const params = { ...planted.inWorld, schemaName: 'jockey' };
    expect(await codeOf(catalog.call('entitySchemas.update', { params, body: { name: 'rider' } }))).toBe(
      'entity_schema_in_use',
    );
    expect(await codeOf(catalog.call('entitySchemas.delete', { params }))).toBe('entity_schema_in_use');
    await catalog.ask('claims.release', { deployment });
    const renamed = await catalog.call('entitySchemas.update', { params, body: { name: 'rider' } });
    expect(renamed.data.name).toBe('rider');
  });

  const template = (key: string) => ({ mutationSettings: { mode: 'direct', template: { [key]: { n: 1 } } } });

  it.each([
    ['a key of its template', (name: string) => template(`${name}:A1`)],
    ['a key that a placeholder ends', (name: string) => template(`${name}:{{input.id}}`)],
    ['its name in another form than NFC', (name: string) => template(`${name.normalize('NFD')}:A1`)],
    [
      'a key of stateChanges',
      (name: string) => ({
        mutationSettings: {
          mode: 'direct',
          template: { stateChanges: { [`${name}:A1`]: {} }, result: null },
        },
      }),
    ],
    [
      'a key and in its mode map',
      (name: string) => ({ ...template(`${name}:A1`), stateChanges: { [name]: 'partial' } }),
    ],
  ])('keeps a schema that a version names in %s', async (_what, version) => {
    const name = unique('caf\u00e9');
    const event = unique('event');
    await createSchema({ name });
    await catalog.call('events.create', {
      params: planted.inWorld,
      body: { name: event, firstVersion: version(name) },
    });
    const params = { ...planted.inWorld, schemaName: name };
    expect(await codeOf(catalog.call('entitySchemas.delete', { params }))).toBe('entity_schema_in_use');
    expect(await codeOf(catalog.call('entitySchemas.update', { params, body: { name: 'b' } }))).toBe(
      'entity_schema_in_use',
    );
    await catalog.call('events.delete', { params: { ...planted.inWorld, eventName: event } });
    await catalog.call('entitySchemas.delete', { params });
  });

  it('deletes a schema whose name a template has elsewhere only', async () => {
    for (const name of ['wall', 'walls']) await createSchema({ name });
    const elsewhere = {
      stateChanges: { 'horse:wall:1': { wall: 'wall:1' }, 'walls:1': {}, '{{ "wall" }}:1': {} },
      result: { 'wall:1': 1 },
    };
    const body = { mutationSettings: { mode: 'direct', template: elsewhere } };
    await catalog.call('versions.create', { params: { ...planted.inWorld, eventName: 'race' }, body });
    await catalog.call('entitySchemas.delete', { params: { ...planted.inWorld, schemaName: 'wall' } });
  });

  it('is not deleted while a version is saved whose template names it', async () => {
    await createSchema({ name: 'gate' });
    const deletion = await catalog.pool.connect();
    try {
      await deletion.query('begin');
      await deletion.query(`select from entity_schemas where name = 'gate' for update`);
      const params = { ...planted.inWorld, eventName: 'race' };
      const saved = catalog.call('versions.create', { params, body: template('gate:G1') });
      const first = await Promise.race([saved.then(() => 'saved'), aLockIsAwaited(catalog)]);
      await deletion.query('rollback');
      await saved;
      expect(first).toBe('waited');
    } finally {
      deletion.release();
    }
  });

  it('knows what the schemas of the world take together', async () => {
    const known = async () => {
      const { rows } = await catalog.pool.query(
        `select schema_bytes as counted, (select sum(octet_length(definition::text)) from entity_schemas
         where world_id = worlds.id) as real from worlds where id = ${planted.world.id}`,
      );
      return [rows[0].counted, Number(rows[0].real)];
    };
    await createSchema({ name: 'stable', attributes: [{ name: 'beds', type: 'integer', defaultValue: 1 }] });
    const params = { ...planted.inWorld, schemaName: 'stable' };
    await catalog.call('attributes.update', { params: { ...params, name: 'beds' }, body: { name: 'rooms' } });
    const [counted, real] = await known();
    expect(counted).toBe(real);
    await catalog.call('entitySchemas.delete', { params });
    const [after, realAfter] = await known();
    expect(after).toBe(realAfter);
    expect(after).toBeLessThan(counted);
  });

  it('renames and deletes a schema that nothing uses', async () => {
    await createSchema({ name: 'cart' });
    await createSchema({ name: 'wagon' });
    const params = { ...planted.inWorld, schemaName: 'cart' };
    expect(await codeOf(catalog.call('entitySchemas.update', { params, body: { name: 'wagon' } }))).toBe(
      'entity_schema_exists',
    );
    const { total } = (await catalog.call('entitySchemas.list', { params: planted.inWorld })).pagination;
    await catalog.call('entitySchemas.delete', { params });
    const after = await catalog.call('entitySchemas.list', { params: planted.inWorld });
    expect(after.pagination.total).toBe(total - 1);
    expect(after.data.map(({ name }) => name)).not.toContain('cart');
  });
});

/** Resolves once a statement of this database waits for a lock. */
async function aLockIsAwaited({ pool }: RunningTestCatalog) {
  await vi.waitFor(async () => {
    const waiting = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    expect(waiting.rowCount).toBe(1);
  });
  return 'waited';
}
