import { expect, it } from 'vitest';
import { describeAddress, readHosts } from './database-hosts.js';

it.each([
  ['postgres://u:p@db:5433/orrery?sslmode=require', [['db', 5433]]],
  ['postgres://u:p@db/orrery', [['db', 5432]]],
  ['postgres:///orrery?host=/run/pg&user=orrery', [['/run/pg', 5432]]],
  [
    'postgres://u:p@one:5432,two:5433/orrery?target_session_attrs=read-write',
    [
      ['one', 5432],
      ['two', 5433],
    ],
  ],
  [
    'postgresql://u@[::1]:5432,%2Frun%2Fpg/orrery?target_session_attrs=primary',
    [
      ['::1', 5432],
      ['/run/pg', 5432],
    ],
  ],
  ['postgres://orrery@localhost:5432/orrery?host=/run/pg', [['/run/pg', 5432]]],
  [
    'postgres:///orrery?host=/a,/b&port=5432,5433',
    [
      ['/a', 5432],
      ['/b', 5433],
    ],
  ],
])('reads the hosts of %s', (address, hosts) => {
  expect(readHosts(address).hosts.map(({ host, port }) => [host, port])).toEqual(hosts);
});

it('gives the driver an address of one server', () => {
  const one = 'postgres://u:p@db:5433/orrery?sslmode=require';
  expect(readHosts(one).url).toBe(one);
  expect(readHosts(`${one}&target_session_attrs=read-write`).url).toBe(
    'postgres://u:p@/orrery?sslmode=require&host=db&port=5433',
  );
  expect(readHosts('postgres://u:p@one,two:1/orrery?sslmode=require').url).toBe(
    'postgres://u:p@/orrery?sslmode=require&host=one&port=5432',
  );
});

it('takes what we set out of the address, and keeps its options apart', () => {
  const ours = 'options=-c%20work_mem%3D5MB+-c+jit%3Doff&application_name=psql';
  expect(readHosts(`postgres://u:p@db/orrery?sslmode=require&${ours}`)).toMatchObject({
    url: 'postgres://u:p@/orrery?sslmode=require&host=db&port=5432',
    options: '-c work_mem=5MB -c jit=off',
  });
  expect(readHosts(`postgres://u@one,two/orrery?${ours}`)).toMatchObject({
    url: 'postgres://u@/orrery?host=one&port=5432',
    options: '-c work_mem=5MB -c jit=off',
  });
  expect(readHosts(`postgres:///orrery?${ours}`).url).toBe('postgres:///orrery?');
  expect(readHosts('postgres://db/orrery').options).toBe('');
});

it.each([
  ['mysql://u@h/d', /no address/],
  ['postgres://u@one,,two/d', /no host/],
  ['postgres://u@one:x,two/d', /no host/],
  ['postgres:///d?host=a,b,c&port=1,2', /3 hosts need one port or 3/],
  ['postgres://u@one,two/d?target_session_attrs=standby', /read-write or primary, not standby/],
  ['postgres://u@one/d?statement_timeout=1', /sets statement_timeout itself/],
  ['postgres://u@one/d?lock_timeout=1', /sets lock_timeout itself/],
  ['postgres://u@one/d?query_timeout=1', /sets query_timeout itself/],
  [
    'postgres://u@one,two/d?idle_in_transaction_session_timeout=1',
    /sets idle_in_transaction_session_timeout itself/,
  ],
])('refuses %s', (address, why) => {
  expect(() => readHosts(address)).toThrow(why);
});

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
