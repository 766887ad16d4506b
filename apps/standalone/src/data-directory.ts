import { randomBytes } from 'node:crypto';
import { access, chmod, constants, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { accountOfToken, createAccountWithKey, type GatewaySchema } from '@orrery/gateway/accounts';
import { StartupError } from '@orrery/service-kit';
import type { Kysely } from 'kysely';

/** Creates the data directory; one that is there stays as it is. @throws StartupError when it cannot be created or written. */
export async function openDataDirectory(directory: string): Promise<void> {
  try {
    const made = await mkdir(directory, { recursive: true });
    // 0711: the database server may run as another user; its data is in a closed folder below.
    if (made !== undefined) await chmod(directory, 0o711);
    else await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw new StartupError(
      `The data directory ${directory} cannot be used (${reason}): make it writable or set ORRERY_DATA_DIR to another folder.`,
      { cause: error },
    );
  }
}

export interface FirstKeyOptions {
  readonly db: Kysely<GatewaySchema>;
  /** Path of the stored key, mode 0600. */
  readonly file: string;
}

export interface FirstKey {
  readonly key: string;
  /** Its owner. */
  readonly accountId: number;
}

/**
 * The key that the all-in-one prints. A stored key that is no longer valid (another database, revoked) is replaced by
 * the key of a new account.
 */
export async function firstKey({ db, file }: FirstKeyOptions): Promise<FirstKey> {
  const stored = ((await readIfThere(file)) ?? '').trim();
  const owner = await accountOfToken(db, stored);
  if (owner !== undefined) return { key: stored, accountId: owner };
  const { account, key } = await createAccountWithKey(db, { name: 'first account' });
  await storeSecret(file, `${key.token}\n`);
  return { key: key.token, accountId: account.id };
}

export const randomHex = (): string => randomBytes(32).toString('hex');

/**
 * Keys of the operator, one a line, made at the first start: as the variable of that name would have them (WEBHOOK_KEYS for
 * `webhook-keys`).
 */
export async function storedKeys(directory: string, name: string, make = randomHex): Promise<string> {
  const file = join(directory, name);
  const stored = await readIfThere(file);
  if (stored !== undefined) return stored;
  const made = `${make()}\n`;
  await storeSecret(file, made);
  return made;
}

/** One that is there and cannot be read is not replaced. @throws StartupError */
const readIfThere = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new StartupError(
      `The file ${file} cannot be read (${cause.code}): let the user who runs Orrery read it.`,
      { cause },
    );
  });

/**
 * Written to another file, flushed and renamed, so that a crash leaves the old file or the new one. The folder is flushed too:
 * what the database keeps by these keys survives a power cut at once.
 */
async function storeSecret(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
  await using folder = await open(dirname(file));
  await folder.sync();
}

/** Stores where this one listens, beside its key: the command `orrery` finds both there. */
export const storeUrl = (directory: string, url: string): Promise<void> =>
  writeFile(join(directory, 'url'), `${url}\n`);
