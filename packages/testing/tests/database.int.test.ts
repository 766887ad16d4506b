import { createTestDatabase } from '@orrery/testing';
import { Client } from 'pg';
import { expect, test } from 'vitest';

async function query(url: string, sql: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client.query(sql).finally(() => client.end());
}

test('databases made at once are apart, and gone when dropped', async () => {
  const databases = await Promise.all(Array.from({ length: 5 }, () => createTestDatabase()));
  for (const { url } of databases) await query(url, 'CREATE TABLE only_mine ()');
  const [first] = databases;
  await Promise.all(databases.map((database) => database.drop()));
  await expect(query(first?.url ?? '', 'SELECT 1')).rejects.toThrow(/does not exist/);
});

test('a template is prepared once, however many ask for it at once', async () => {
  let prepared = 0;
  const template = {
    name: `prepared_once_${process.pid}`,
    prepare: async (url: string) => {
      prepared += 1;
      await query(url, 'CREATE TABLE migrated AS SELECT 42 AS answer');
    },
  };
  const databases = await Promise.all(Array.from({ length: 4 }, () => createTestDatabase({ template })));
  for (const { url } of databases) {
    expect((await query(url, 'SELECT answer FROM migrated')).rows).toEqual([{ answer: 42 }]);
  }
  expect(prepared).toBe(1);
  await Promise.all(databases.map((database) => database.drop()));
});
