import { expect, it } from 'vitest';
import { describeAddress } from './database-address.js';

it.each([
  ['postgres://orrery:hunter2@db.internal:5432/orrery?sslmode=require', 'db.internal:5432/orrery'],
  ['postgres://db/orrery', 'db/orrery'],
  ['postgres:///orrery?host=/run/pg&password=hunter2', '/run/pg/orrery'],
  ['postgres://orrery:hunter2@%2Frun%2Fpg/orrery', '/run/pg/orrery'],
  ['postgres://orrery:hunter2@one,two:5433/orrery', 'one,two:5433/orrery'],
  ['hunter2', 'the address of DATABASE_URL'],
])('says where %s is without its password', (url, where) => {
  expect(describeAddress(url)).toBe(where);
});
