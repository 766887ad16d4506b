import { expect, it } from 'vitest';
import { databaseThat } from '../tables/database-double.test-support.js';
import { listDeploymentsHere } from './deployment-directory.js';

it('counts the deployments of a database for a list, and not for the records of some of them', async () => {
  const statements: string[] = [];
  const db = databaseThat((statement) => void statements.push(statement));
  await listDeploymentsHere(db, 1, 1, { most: 0, ids: [5, 6] });
  expect(statements.filter((one) => one.includes('count(*)'))).toEqual([]);
  expect(statements).toHaveLength(1);
  await listDeploymentsHere(db, 1, 1, { most: 20, ids: null });
  expect(statements.filter((one) => one.includes('count(*)'))).toHaveLength(1);
});
