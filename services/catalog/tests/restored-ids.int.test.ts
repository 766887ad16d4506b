import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { bootCatalog, plantWorld } from './running-catalog.js';

const page = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');

const [, statement = ''] = /--command="\n([^"]*pg_sequences[^"]*)"/.exec(page) ?? [];

it('the statement of the page lets all ids begin behind those that a restored catalog has lost', async () => {
  const catalog = await bootCatalog();
  const before = await plantWorld(catalog);
  await sql.raw(statement).execute(catalog.db);
  const after = await plantWorld(catalog);
  expect(after.world.id).toBe(before.world.id + 1_000_001);
  const { rows } = await sql<{ least: string }>`
    select min(id) as least from (select max(id) as id from catalog.events
      union all select max(id) from catalog.entity_schemas
      union all select max(id) from catalog.event_versions) as newest`.execute(catalog.db);
  expect(Number(rows[0]?.least)).toBeGreaterThan(1_000_000);
});

it('also those of which the backup had none yet', async () => {
  const catalog = await bootCatalog();
  await sql.raw(statement).execute(catalog.db);
  const { world } = await plantWorld(catalog);
  expect(world.id).toBe(1_000_001);
});
