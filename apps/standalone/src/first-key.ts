import { readFile, rename, writeFile } from 'node:fs/promises';
import { createAccountWithKey, type GatewaySchema, isUsableToken } from '@orrery/gateway/accounts';
import type { Kysely } from 'kysely';

export interface FirstKeyOptions {
  readonly db: Kysely<GatewaySchema>;
  /** Where it is kept, mode 0600. */
  readonly file: string;
}

/**
 * The key that the all-in-one prints. A kept key that the database does not take any more (another database, revoked)
 * is replaced by that of a new account.
 */
export async function firstKey({ db, file }: FirstKeyOptions): Promise<string> {
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (kept !== '' && (await isUsableToken(db, kept))) return kept;
  const { key } = await createAccountWithKey(db, { name: 'first account' });
  // Written aside and renamed, so that a crash leaves the old file or the new one.
  await writeFile(`${file}.new`, `${key.token}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return key.token;
}
