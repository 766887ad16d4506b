import { connect, type Database, migrate } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMIT_STATEMENT } from '../src/commit/commit-statement.js';
import { migrations } from '../src/database/migrations/index.js';

let place: TestDatabase;
let database: Database<unknown>;

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  place = await createTestDatabase();
  database = await connect({ url: place.url, schema: 'runtime', applicationName: 'test', logger });
  await migrate({ database, migrations, logger });
});
afterAll(async () => {
  await database.close();
  await place.drop();
});

const plan = async () => {
  const { rows } = await database.pool.query<[string]>({
    text: `explain (generic_plan) ${COMMIT_STATEMENT.text}`,
    rowMode: 'array',
  });
  return rows.map(([line]) => line).join('\n');
};

const SOME_ROWS = `
  insert into journal_heads select n, 1, 'hash', '{}' from generate_series(1, 1000) n;
  insert into instances select n, n, 'counter', 'one', '{}', 1, now(), now() from generate_series(1, 1000) n;
  analyze`;

describe('the plan of a commit', () => {
  it('looks rows up by their keys, also in tables that are small', async () => {
    const ofEmptyTables = await plan();
    await database.pool.query(SOME_ROWS);
    for (const lines of [ofEmptyTables, await plan()]) {
      expect(lines).toContain('Index Scan using journal_heads_pkey on journal_heads');
      expect(lines).toMatch(/Index Scan using instances_\w+ on instances.*\n *Index Cond: .*instance_id/);
      expect(lines).not.toMatch(/Seq Scan on (journal_heads|instances)/);
    }
  });
});
