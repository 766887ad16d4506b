import { connect, migrate } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { migrations } from '../src/store/tables/migrations/index.js';
import { locksFirst } from '../src/store/tables/migrations/locks-first.js';

const logger = createLogger({ service: 'test', level: 'error' });

it('a migration beside a backup gives up and says so, and succeeds afterwards', async () => {
  const place = await createTestDatabase();
  onTestFinished(() => place.drop());
  const database = await connect({ url: place.url, schema: 'runtime', applicationName: 'test', logger });
  onTestFinished(() => database.close());
  await migrate({ database, migrations, logger });
  const next = {
    '9999_next': {
      up: async (db) => void (await sql`alter table runtime.runs add column next integer`.execute(db)),
    },
  } satisfies typeof migrations;
  const newer = { database, migrations: { ...migrations, ...locksFirst(next) }, logger, lockTries: 2 };
  const backup = await database.pool.connect();
  try {
    await backup.query('begin; lock table runtime.runs in access share mode');
    await expect(migrate(newer)).rejects.toThrow('a long transaction, such as a backup, holds tables');
  } finally {
    await backup.query('rollback');
    backup.release();
  }
  await migrate(newer);
});
