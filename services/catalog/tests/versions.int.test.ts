import { beforeAll, describe, expect, it } from 'vitest';
import {
  bootCatalog,
  codeOf,
  deploymentAddress,
  OTHER,
  plantWorld,
  type RunningTestCatalog,
  raceVersion,
  refusalOf,
} from './running-catalog.js';

describe('events and event versions', () => {
  let catalog: RunningTestCatalog;
  let planted: Awaited<ReturnType<typeof plantWorld>>;
  beforeAll(async () => {
    catalog = await bootCatalog();
    planted = await plantWorld(catalog);
  });
  const inRace = () => ({ ...planted.inWorld, eventName: 'race' });
  const create = async (body: object) =>
    (await catalog.call('versions.create', { params: inRace(), body })).data;
  const update = async (version: number, body: object) =>
    (await catalog.call('versions.update', { params: { ...inRace(), version: String(version) }, body })).data;
  const get = async (version: number, account?: number) =>
    (await catalog.call('versions.get', { params: { ...inRace(), version: String(version) } }, account)).data;
  const lock = (version: number) =>
    catalog.call('versions.lock', { params: { ...inRace(), version: String(version) } });

  it('creates an event with its version 1', async () => {
    expect(planted.event).toMatchObject({ worldId: planted.world.id, name: 'race', latestVersion: 1 });
    expect(await get(1)).toMatchObject({
      ...raceVersion,
      version: 1,
      isLocked: false,
      lockedAt: null,
      outputSchema: null,
      behaviorPrompt: null,
      guards: null,
      versionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('creates neither when the version is wrong, and points into it', async () => {
    const body = { name: 'bad', firstVersion: { mutationSettings: { mode: 'direct' } } };
    const refusal = await refusalOf(catalog.call('events.create', { params: planted.inWorld, body }));
    expect(refusal.code).toBe('template_required');
    expect(refusal.errors[0]?.pointer).toBe('/firstVersion/mutationSettings/template');
    const params = { ...planted.inWorld, eventName: 'bad' };
    expect(await codeOf(catalog.call('events.get', { params }))).toBe('event_not_found');
  });

  it('answers one spelling, whichever was sent', async () => {
    const version = await create({
      stateChangeSchema: { horse: 'full' },
      mutationSettings: { mode: 'ai', behaviorPrompt: 'Decide.' },
    });
    expect(version).toMatchObject({
      stateChanges: { horse: 'full' },
      behaviorPrompt: 'Decide.',
      mutationSettings: { mode: 'ai', behaviorPrompt: 'Decide.' },
    });
    expect(version).not.toHaveProperty('stateChangeSchema');
    const changed = await update(version.version, {
      stateChanges: { horse: 'append' },
      behaviorPrompt: 'Think.',
    });
    expect(changed).toMatchObject({
      stateChanges: { horse: 'append' },
      mutationSettings: { mode: 'ai', behaviorPrompt: 'Think.' },
    });
    const removed = await update(version.version, { mutationSettings: null, executionSettings: null });
    expect(removed).toMatchObject({
      mutationSettings: null,
      executionSettings: null,
      behaviorPrompt: 'Think.',
    });
  });

  it('merges the two settings one level and replaces everything else whole', async () => {
    const { version } = await create(raceVersion);
    const changed = await update(version, {
      executionSettings: { visibility: 'admin' },
      mutationSettings: { template: { 'horse:H1': { wins: 1 } } },
      inputSchema: { horses: 'string[]' },
    });
    expect(changed).toMatchObject({
      executionSettings: { visibility: 'admin', priceUsd: 0.5 },
      mutationSettings: { mode: 'direct', template: { 'horse:H1': { wins: 1 } } },
      readEntities: raceVersion.readEntities,
    });
    expect(changed.inputSchema).toEqual({ horses: 'string[]' });
    expect(changed.mutationSettings?.template).toEqual({ 'horse:H1': { wins: 1 } });
  });

  it('saves a version with nothing in it', async () => {
    expect(await create({})).toMatchObject({
      mutationSettings: null,
      executionSettings: null,
      readEntities: [],
    });
  });

  const refusals: [string, object, string, string][] = [
    [
      'two maps that differ',
      { stateChanges: { horse: 'full' }, stateChangeSchema: {} },
      'conflicting_fields',
      '/stateChangeSchema',
    ],
    [
      'two prompts that differ',
      { behaviorPrompt: 'a', mutationSettings: { mode: 'ai', behaviorPrompt: 'b' } },
      'conflicting_fields',
      '/mutationSettings/behaviorPrompt',
    ],
    [
      'direct without template',
      { mutationSettings: { mode: 'direct' } },
      'template_required',
      '/mutationSettings/template',
    ],
    [
      'direct with a template of null',
      { mutationSettings: { mode: 'direct', template: null } },
      'template_required',
      '/mutationSettings/template',
    ],
    [
      'ai without prompt',
      { mutationSettings: { mode: 'ai' } },
      'behavior_prompt_required',
      '/behaviorPrompt',
    ],
    [
      'cron without cron',
      { executionSettings: { visibility: 'cron' } },
      'invalid_cron_schedule',
      '/executionSettings/cron/schedule',
    ],
    [
      'cron without schedule',
      { executionSettings: { visibility: 'cron', cron: { input: {} } } },
      'invalid_cron_schedule',
      '/executionSettings/cron/schedule',
    ],
    [
      'a schedule that never fires',
      { executionSettings: { visibility: 'cron', cron: { schedule: '0 0 30 2 *' } } },
      'invalid_cron_schedule',
      '/executionSettings/cron/schedule',
    ],
    [
      'an unknown time zone',
      { executionSettings: { visibility: 'cron', cron: { schedule: '* * * * *', timezone: 'Mars/Phobos' } } },
      'invalid_cron_schedule',
      '/executionSettings/cron/timezone',
    ],
    [
      'a schema read that is not there',
      { readEntities: [{ schema: 'cat' }] },
      'unknown_entity_schema',
      '/readEntities/0/schema',
    ],
    [
      'a schema changed that is not there',
      { stateChanges: { 'c/t': 'full' } },
      'unknown_entity_schema',
      '/stateChanges/c~1t',
    ],
    [
      'the same by its other name',
      { stateChangeSchema: { cat: 'full' } },
      'unknown_entity_schema',
      '/stateChangeSchema/cat',
    ],
    [
      'a template that does not parse',
      { mutationSettings: { mode: 'direct', template: { 'horse:H1': { wins: '{{ input. }}' } } } },
      'invalid_template',
      '/mutationSettings/template/horse:H1/wins',
    ],
    [
      'a change that names no instance',
      { mutationSettings: { mode: 'direct', template: { horse: { wins: 1 } } } },
      'invalid_template',
      '/mutationSettings/template/horse',
    ],
    [
      'an unknown name in a template',
      { mutationSettings: { mode: 'direct', template: { 'horse:H1': { wins: '{{process.env}}' } } } },
      'invalid_template',
      '/mutationSettings/template/horse:H1/wins',
    ],
    [
      'an unknown operator',
      { mutationSettings: { mode: 'direct', template: { 'horse:H1': { wins: { $inc: 1 } } } } },
      'invalid_template',
      '/mutationSettings/template/horse:H1/wins',
    ],
    [
      'a cron template that does not parse',
      {
        executionSettings: {
          visibility: 'cron',
          cron: { schedule: '* * * * *', input: { n: '{{counter +}}' } },
        },
      },
      'invalid_template',
      '/executionSettings/cron/input/n',
    ],
    ['an unknown short type', { inputSchema: { a: 'date' } }, 'validation_failed', '/inputSchema/a'],
    [
      'a wrong JSON Schema',
      { outputSchema: { type: 'object', properties: { a: { type: 'x' } } } },
      'validation_failed',
      '/outputSchema',
    ],
    [
      'a filter outside the input',
      { inputSchema: { id: 'string' }, readEntities: [{ schema: 'horse', filter: ['id', 'other.id'] }] },
      'validation_failed',
      '/readEntities/0/filter/1',
    ],
    ['an empty filter', { readEntities: [{ schema: 'horse', filter: [] }] }, 'validation_failed', '/filter'],
    ['an unknown mode', { stateChanges: { horse: 'replace' } }, 'validation_failed', '/stateChanges/horse'],
    ['an unknown field', { template: {} }, 'validation_failed', '/template'],
    [
      'a guard on no attribute',
      { guards: { maxDelta: { 'a.b': 1 } } },
      'validation_failed',
      '/guards/maxDelta/a.b',
    ],
    [
      'too much JSON',
      { outputSchema: { note: 'any', $comment: 'x'.repeat(300_000) } },
      'validation_failed',
      '',
    ],
  ];

  it.each(refusals)('refuses %s', async (_what, body, code, pointer) => {
    const onCreate = await refusalOf(create(body));
    expect(onCreate.code).toBe(code);
    expect(onCreate.errors[0]?.pointer ?? '').toContain(pointer);
    const { version } = await create({});
    expect(await codeOf(update(version, body))).toBe(code);
  });

  it('counts versions up and gives no number twice', async () => {
    const event = { name: 'numbered', firstVersion: {} };
    await catalog.call('events.create', { params: planted.inWorld, body: event });
    const params = { ...planted.inWorld, eventName: 'numbered' };
    const next = async () => (await catalog.call('versions.create', { params })).data.version;
    expect([await next(), await next()]).toEqual([2, 3]);
    await catalog.call('versions.delete', { params: { ...params, version: '3' } });
    expect(await next()).toBe(4);
    const { data, pagination } = await catalog.call('versions.list', { params });
    expect(data.map(({ version }) => version)).toEqual([1, 2, 4]);
    expect(pagination.total).toBe(3);
    expect((await catalog.call('events.get', { params })).data.latestVersion).toBe(4);
  });

  it('locks for ever, with copies of the schemas that the version names', async () => {
    const { version, versionHash } = await create(raceVersion);
    const first = await lock(version);
    expect(first).toMatchObject({
      data: { isLocked: true, versionHash },
      message: expect.stringMatching(/now/),
    });
    const again = await lock(version);
    expect(again).toMatchObject({ data: first.data, message: expect.stringMatching(/already/) });
    expect(await codeOf(update(version, { behaviorPrompt: 'x' }))).toBe('version_locked');
    expect(
      await codeOf(catalog.call('versions.delete', { params: { ...inRace(), version: String(version) } })),
    ).toBe('version_locked');
    expect(await codeOf(catalog.call('events.delete', { params: inRace() }))).toBe('version_locked');

    const params = { ...planted.inWorld, schemaName: 'horse' };
    await catalog.call('attributes.create', { params, body: { name: 'mane', type: 'string' } });
    expect((await get(version)).versionHash).toBe(versionHash);
    const draft = await create(raceVersion);
    expect(draft.versionHash).not.toBe(versionHash);
    const names = { worldId: planted.world.id, deployment: deploymentAddress() };
    const { definitions } = await catalog.ask('claims.versions', {
      ...names,
      versions: [
        { event: 'race', version },
        { event: 'race', version: draft.version },
      ],
    });
    const attributes = definitions.map(({ schemas }) => schemas['horse']?.attributes.map(({ name }) => name));
    expect(attributes[0]).not.toContain('mane');
    expect(attributes[1]).toContain('mane');
    expect(definitions[0]?.isLocked).toBe(true);
  });

  it('copies all schemas of the world into a locked version without a map, and keeps them', async () => {
    await catalog.call('entitySchemas.create', { params: planted.inWorld, body: { name: 'fence' } });
    const { version } = await create({});
    await lock(version);
    const params = { ...planted.inWorld, schemaName: 'fence' };
    expect(await codeOf(catalog.call('entitySchemas.delete', { params }))).toBe('entity_schema_in_use');
  });

  it('shows others neither prompts nor templates', async () => {
    const { version } = await create({
      ...raceVersion,
      behaviorPrompt: 'Secret',
      inputSchema: null,
      executionSettings: { visibility: 'cron', cron: { schedule: '0 9 * * *', input: { secret: 1 } } },
    });
    const published = { params: { idOrAddress: planted.world.address } };
    await catalog.call('worlds.publish', published);
    const seen = await get(version, OTHER);
    expect(JSON.stringify(seen)).not.toMatch(/secret|increment/i);
    expect(seen).toMatchObject({
      mutationSettings: { mode: 'direct' },
      executionSettings: { visibility: 'cron', cron: { schedule: '0 9 * * *' } },
    });
    expect(seen.versionHash).toBe((await get(version)).versionHash);
    await catalog.call('worlds.unpublish', published);
  });

  it('keeps what a deployment binds', async () => {
    const body = { name: 'bound', firstVersion: {} };
    await catalog.call('events.create', { params: planted.inWorld, body });
    const params = { ...planted.inWorld, eventName: 'bound' };
    const claim = { worldId: planted.world.id, deployment: deploymentAddress() };
    await catalog.ask('claims.versions', { ...claim, versions: [{ event: 'bound', version: 1 }] });
    expect(await codeOf(catalog.call('events.delete', { params }))).toBe('event_in_use');
    expect(await codeOf(catalog.call('events.update', { params, body: { name: 'free' } }))).toBe(
      'event_in_use',
    );
    const one = { params: { ...params, version: '1' } };
    expect(await codeOf(catalog.call('versions.delete', one))).toBe('event_version_in_use');
    expect(
      (await catalog.call('events.update', { params, body: { description: 'Tied' } })).data.description,
    ).toBe('Tied');
    await catalog.ask('claims.release', { deployment: claim.deployment, versions: [] });
    expect(await codeOf(catalog.call('versions.delete', one))).toBe('event_version_in_use');
    await catalog.ask('claims.release', { deployment: claim.deployment });
    await catalog.call('versions.delete', one);
    expect((await catalog.call('events.get', { params })).data.latestVersion).toBeNull();
    await catalog.call('events.delete', { params });
    expect(await codeOf(catalog.call('events.get', { params }))).toBe('event_not_found');
  });

  it('renames an event that nothing binds', async () => {
    const create2 = (name: string) =>
      catalog.call('events.create', { params: planted.inWorld, body: { name, firstVersion: {} } });
    await create2('walk');
    await create2('trot');
    expect(await codeOf(create2('trot'))).toBe('event_exists');
    const params = { ...planted.inWorld, eventName: 'walk' };
    expect(await codeOf(catalog.call('events.update', { params, body: { name: 'trot' } }))).toBe(
      'event_exists',
    );
    expect((await catalog.call('events.update', { params, body: { name: 'canter' } })).data.name).toBe(
      'canter',
    );
  });
});
