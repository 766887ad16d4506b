import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../src/store/tables/migrations/index.js';
import { bootCatalog, plantWorld, type RunningTestCatalog, refusalOf, type Sent } from './running-catalog.js';

describe('confirming a draft', () => {
  let catalog: RunningTestCatalog;
  let planted: Awaited<ReturnType<typeof plantWorld>>;
  /** Of the event `race`: one that names `horse` and one that may change every schema of the world. */
  let naming: number;
  let changingAll: number;
  beforeAll(async () => {
    catalog = await bootCatalog();
  });
  beforeEach(async () => {
    planted = await plantWorld(catalog);
    await catalog.call('entitySchemas.create', { params: planted.inWorld, body: { name: 'fence' } });
    await catalog.call('versions.create', { params: inRace() });
    naming = (await catalog.call('versions.get', { params: version('1') })).data.id;
    changingAll = (await catalog.call('versions.get', { params: version('2') })).data.id;
  });
  const inRace = () => ({ ...planted.inWorld, eventName: 'race' });
  const version = (number: string) => ({ ...inRace(), version: number });
  const schema = (schemaName: string) => ({ ...planted.inWorld, schemaName });
  const confirmAll = async (versions: { versionId: number; hash: string }[]) =>
    (await catalog.ask('definitions.confirm', { versions, schemas: [], worlds: [] })).versions;
  const confirm = async (versionId: number, hash = '') => (await confirmAll([{ versionId, hash }]))[0];
  /** What it is now, which is then confirmed: both hashes, of what is loaded and of what is compared, are one. */
  const now = async (versionId: number) => {
    const confirmed = await confirm(versionId);
    if (confirmed?.state !== 'changed') throw new Error(`${confirmed?.state}`);
    expect(await confirm(versionId, confirmed.definition.hash)).toEqual({ state: 'same' });
    return confirmed.definition;
  };
  const update = (number: string, body: Sent['body']) =>
    catalog.call('versions.update', { params: version(number), body });

  it.each([
    ['its event has another name', { name: '競馬 "é" 🏇' }],
    ['its event has another plain name', { name: 'dash' }],
  ])('sees that %s', async (_what, body) => {
    const [one, all] = [await now(naming), await now(changingAll)];
    await catalog.call('events.update', { params: inRace(), body });
    expect(await confirm(naming, one.hash)).toMatchObject({
      state: 'changed',
      definition: { event: body.name },
    });
    expect((await confirm(changingAll, all.hash))?.state).toBe('changed');
    await now(naming);
  });

  it.each([
    ['names one more schema', { stateChanges: { horse: 'partial', fence: 'partial' } }, ['fence', 'horse']],
    [
      'names another schema',
      { readEntities: [], stateChanges: { fence: 'partial' }, mutationSettings: null },
      ['fence'],
    ],
    ['names none any more', { readEntities: [], stateChanges: {}, mutationSettings: null }, []],
    ['may change all schemas', { stateChanges: null }, ['fence', 'horse']],
  ])('sees that it %s, and then what becomes of those', async (_what, body, names: string[]) => {
    const before = await now(naming);
    await update('1', body);
    const after = await now(naming);
    expect(Object.keys(after.schemas).sort()).toEqual(names);
    expect((await confirm(naming, before.hash))?.state).toBe('changed');
    await catalog.call('attributes.create', {
      params: schema('fence'),
      body: { name: 'height', type: 'float' },
    });
    const state = names.includes('fence') ? 'changed' : 'same';
    expect((await confirm(naming, after.hash))?.state).toBe(state);
    await now(naming);
  });

  it.each([
    [
      'a schema comes',
      () => catalog.call('entitySchemas.create', { params: planted.inWorld, body: { name: 'x' } }),
    ],
    ['a schema goes', () => catalog.call('entitySchemas.delete', { params: schema('fence') })],
    [
      'a schema has another name',
      () => catalog.call('entitySchemas.update', { params: schema('fence'), body: { name: 'hurdle' } }),
    ],
    [
      'a schema has another attribute',
      () =>
        catalog.call('attributes.create', {
          params: schema('fence'),
          body: { name: 'height', type: 'float' },
        }),
    ],
  ])('sees that %s, if it may change them all', async (_what, change) => {
    const [one, all] = [await now(naming), await now(changingAll)];
    await change();
    expect((await confirm(changingAll, all.hash))?.state).toBe('changed');
    expect(await confirm(naming, one.hash)).toEqual({ state: 'same' });
    await now(changingAll);
  });

  it.each(['1', '2'])('sees the lock of version %s, and is the same for ever after', async (number) => {
    const id = number === '1' ? naming : changingAll;
    const before = await now(id);
    await catalog.call('versions.lock', { params: version(number) });
    expect((await confirm(id, before.hash))?.state).toBe('changed');
    const locked = await now(id);
    await catalog.call('attributes.create', {
      params: schema('horse'),
      body: { name: 'age', type: 'float' },
    });
    await catalog.call('entitySchemas.create', { params: planted.inWorld, body: { name: 'x' } });
    expect(await confirm(id, locked.hash)).toEqual({ state: 'same' });
    expect(await now(id)).toEqual(locked);
  });

  it.each([
    ['it', () => catalog.call('versions.delete', { params: version('1') })],
    ['its event', () => catalog.call('events.delete', { params: inRace() })],
    ['its world', () => catalog.call('worlds.delete', { params: { idOrAddress: planted.world.address } })],
  ])('sees that %s is gone', async (_what, change) => {
    const { hash } = await now(naming);
    await change();
    expect(await confirm(naming, hash)).toEqual({ state: 'gone' });
  });

  it('answers in the order asked, equal questions too, and only what changed is loaded', async () => {
    const [one, all] = [await now(naming), await now(changingAll)];
    const known = [one, all].map(({ versionId, hash }) => ({ versionId, hash }));
    await update('2', { behaviorPrompt: 'Run.' });
    const gone = { versionId: 999_999_999, hash: one.hash };
    const answers = await confirmAll([...known, gone, ...known.toReversed()]);
    expect(answers.map(({ state }) => state)).toEqual(['same', 'changed', 'gone', 'changed', 'same']);
    expect(answers[1]).toEqual({ state: 'changed', definition: await now(changingAll) });
    expect(answers[3]).toEqual(answers[1]);
  });

  it('is one statement for each kind as long as nothing changed, and asks nothing for nothing', async () => {
    const versions = [await now(naming), await now(changingAll)].map(({ versionId, hash }) => ({
      versionId,
      hash,
    }));
    const hash = (await now(naming)).schemas['horse']?.hash ?? '';
    const schemas = [{ worldId: planted.world.id, name: 'horse', hash }];
    const statementsOf = async (asked: Parameters<typeof catalog.ask<'definitions.confirm'>>[1]) => {
      const statements: string[] = [];
      const stop = catalog.watchStatements((text) => statements.push(text));
      await catalog.ask('definitions.confirm', asked).finally(stop);
      return statements.filter((text) => !text.includes('outbox'));
    };
    expect(await statementsOf({ versions, schemas: [], worlds: [] })).toHaveLength(1);
    expect(await statementsOf({ versions, schemas, worlds: [] })).toHaveLength(2);
    expect(await statementsOf({ versions: [], schemas: [], worlds: [] })).toHaveLength(0);
  });

  it('is the same for rows that were there before the columns that decide it', async () => {
    const [one, all] = [await now(naming), await now(changingAll)];
    await sql`alter table event_versions drop column definition_hash, drop column uses_all_schemas`.execute(
      catalog.db,
    );
    await sql`drop function json_hash`.execute(catalog.db);
    await migrations['0006_definition_hash']?.up(catalog.db);
    expect(await confirm(naming, one.hash)).toEqual({ state: 'same' });
    expect(await confirm(changingAll, all.hash)).toEqual({ state: 'same' });
    expect(await now(changingAll)).toEqual(all);
  });

  it('that the database was lost means nothing was changed', async () => {
    const stop = catalog.watchStatements((text) => {
      if (text.includes('question')) throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
    });
    const refusal = await refusalOf(confirm(naming)).finally(stop);
    expect(refusal.code).toBe('unavailable');
    expect(refusal.facts).not.toHaveProperty('outcome');
    await now(naming);
  });
});
