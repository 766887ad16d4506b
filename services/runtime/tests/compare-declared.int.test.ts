import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createComparison } from '../src/lane/indexes/compare-declared.js';
import { openRuntimeDatabase, plantDeployment } from './journal-fixture.js';

const SCHEMA = 5;
const db = await openRuntimeDatabase();
const partitions = Array.from({ length: 64 }, (_, partition) => partition);
const { signal } = new AbortController();
let attributes: string[] = ['wins'];
const compare = createComparison({
  db,
  catalog: { declaredIndexes: async () => ({ schemas: [{ schemaId: SCHEMA, attributes }], next: null }) },
  clock: { monotonic: () => 0 },
  atOnce: 2,
  roundMs: 0,
});

async function claimBy(deployments: number): Promise<void> {
  for (let made = 0; made < deployments; made += 1) {
    const { id } = await plantDeployment(db);
    await sql`insert into claimed_schemas (deployment_id, entity_schema, schema_id) values (${id}, 'horse', ${SCHEMA})`.execute(
      db,
    );
  }
}

const kept = async () =>
  (await sql`select from attribute_indexes where state <> 'dropped' order by deployment_id`.execute(db)).rows
    .length;

it('follows what changes in the catalog at once, and looks for new deployments page by page, a bounded time each round', async () => {
  await claimBy(7);
  await compare(partitions, signal);
  expect(await kept()).toBe(7);
  await claimBy(3);
  const after: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    await compare(partitions, signal);
    after.push(await kept());
  }
  expect(after).toEqual([7, 7, 7, 8, 10]);
  attributes = [];
  await compare(partitions, signal);
  expect(await kept()).toBe(0);
});
