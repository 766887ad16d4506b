import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceCall } from '@orrery/bus';
import { accountContract } from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { setAccountDisabled } from '../src/store/accounts/account-store.js';
import { createAccountWithKey } from '../src/store/keys/key-store.js';
import { startReplicas } from './support/started-gateway.js';

const page = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');

/** The statement of the page that has this text. */
const statementWith = (text: string): string =>
  [...page.matchAll(/--command="([^"]*)"/g)]
    .flatMap(([, sql = '']) => sql)
    .find((sql) => sql.includes(text)) ?? '';

it('the statements of the page let ids and revisions begin behind those that a restored gateway has lost', async () => {
  await using system = await startReplicas(1);
  const { db, account, bus } = system;
  await sql.raw(statementWith('pg_sequences')).execute(db);
  await sql.raw(statementWith('gateway.accounts')).execute(db);
  const { account: next } = await createAccountWithKey(db, { name: 'next' });
  expect(next.id).toBe(account.id + 1_000_001);
  const { states } = await bus.call(
    accountContract.rpcs['accounts.states'],
    { afterId: account.id - 1, limit: 1 },
    serviceCall('test', systemClock, 10_000),
  );
  // What other services have of a lost revision is older.
  expect(states[0]).toMatchObject({ accountId: account.id, revision: account.revision + 1_000_000 });
  expect(await setAccountDisabled(db, account.id, true)).toMatchObject({
    revision: account.revision + 1_000_001,
  });
});
