import { expect, it } from 'vitest';
import { databaseThat } from '../tables/database-double.test-support.js';
import { listDeploymentsHere } from './list-deployments.js';

it('counts the deployments of a database for a list, and not for the records of some of them', async () => {
  const statements: string[] = [];
  const db = databaseThat((statement) => void statements.push(statement));
  await listDeploymentsHere(db, 1, 1, { most: 0, ids: [5, 6], partitions: [5, 6] });
  expect(statements.filter((one) => one.includes('count(*)'))).toEqual([]);
  // The records, and which of the partitions have left.
  expect(statements).toHaveLength(2);
  await listDeploymentsHere(db, 1, 1, { most: 20, ids: null, partitions: [5, 6] });
  expect(statements.filter((one) => one.includes('count(*)'))).toHaveLength(1);
});
