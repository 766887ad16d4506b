import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { createSeal } from '../src/core/webhooks/seal.js';
import type { Db } from '../src/store/tables/schema.js';
import { replaceSecret, reseal } from '../src/store/webhooks/webhook-secrets.js';
import { insertWebhook } from '../src/store/webhooks/webhook-store.js';
import { ownDatabase } from './own-database.js';

const DAY = 86_400;
const [lost, kept, next] = [randomBytes(32), randomBytes(32), randomBytes(32)] as const;
let db: Db;
beforeEach(async () => {
  db = await ownDatabase();
});

let made = 0;
/** A webhook whose secret a key has closed. */
async function insert(key: Buffer, id: string = randomUUID()) {
  const seal = createSeal([key]);
  made += 1;
  // Few of each deployment: their number is bounded.
  const deployment = `0x${String(made).padStart(40, '0')}`;
  const webhook = {
    id,
    deployment,
    accountId: 1,
    secret: seal.close('first', id),
    head: { seq: 1, hash: null },
  };
  return insertWebhook(db, webhook, { url: 'https://example.com/' });
}
const secretsOf = async (id: string) =>
  db
    .selectFrom('webhooks')
    .select(['secret', 'old_secret', 'old_secret_until'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

it('are encrypted anew once, also beside one that no key opens', async () => {
  const row = await insert(lost);
  const seal = createSeal([next, kept]);
  // As an older release left it: it kept what it could not read.
  await sql`
    update webhooks set secret = ${createSeal([kept]).close('second', row.id)}, old_secret = secret,
      old_secret_until = now() + interval '1 day'`.execute(db);
  expect(await reseal(db, seal)).toBe(1);
  expect(await reseal(db, seal)).toBe(0);
  const { secret, old_secret } = await secretsOf(row.id);
  expect(seal.open(secret, row.id)).toBe('second');
  expect(createSeal([lost]).open(old_secret ?? '', row.id)).toBe('first');
});

it('are kept when they are replaced, unless no key opens them', async () => {
  const seal = createSeal([kept]);
  const [readable, unreadable] = [await insert(kept), await insert(lost)];
  for (const row of [readable, unreadable])
    await replaceSecret(db, seal, row, seal.close('second', row.id), DAY);
  expect(seal.open((await secretsOf(readable.id)).old_secret ?? '', readable.id)).toBe('first');
  expect(await secretsOf(unreadable.id)).toMatchObject({ old_secret: null, old_secret_until: null });
});

it('are forgotten when they sign no longer', async () => {
  const seal = createSeal([kept]);
  const row = await insert(kept);
  await replaceSecret(db, seal, row, seal.close('second', row.id), DAY);
  await sql`update webhooks set old_secret_until = now() - interval '1 second'`.execute(db);
  await reseal(db, seal);
  expect(await secretsOf(row.id)).toMatchObject({ old_secret: null, old_secret_until: null });
});

it('are replaced again as soon as the one before signs no longer, and at once where both are to end', async () => {
  const seal = createSeal([kept]);
  const row = await insert(kept);
  const replace = (secret: string, grace: number) =>
    replaceSecret(db, seal, row, seal.close(secret, row.id), grace);
  const opened = async () => {
    const { secret, old_secret: old } = await secretsOf(row.id);
    return [seal.open(secret, row.id), old && seal.open(old, row.id)];
  };
  await replace('second', DAY);
  await expect(replace('third', 1)).rejects.toMatchObject({ code: 'limit_reached' });
  expect(await opened()).toEqual(['second', 'first']);
  await sql`update webhooks set old_secret_until = now()`.execute(db);
  await replace('third', DAY);
  expect(await opened()).toEqual(['third', 'second']);
  await replace('fourth', 0);
  expect(await opened()).toEqual(['fourth', null]);
});

it('are reached behind any number that no key opens', async () => {
  for (let one = 0; one < 120; one += 1)
    await insert(lost, `00000000-0000-4000-8000-${String(one).padStart(12, '0')}`);
  const last = await insert(kept, 'ffffffff-ffff-4fff-8fff-ffffffffffff');
  const seal = createSeal([next, kept]);
  expect(await reseal(db, seal)).toBe(1);
  expect((await secretsOf(last.id)).secret.startsWith(seal.current)).toBe(true);
});
