import { chown, lchown, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';

/** The user that the server runs as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root. Started by root, the server runs as the owner of an existing data
 * directory, otherwise as `nobody`; started by anyone else it runs as that user: `undefined`.
 */
export async function chooseAccount(dataDirectory: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(dataDirectory).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return nobody();
}

async function nobody(): Promise<Account> {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const fields = users
    .split('\n')
    .find((line) => line.startsWith('nobody:'))
    ?.split(':');
  if (fields === undefined) {
    throw new StartupError(
      'PostgreSQL does not run as root, and there is no user `nobody` to run it as: start Orrery as an ordinary user, or set DATABASE_URL.',
    );
  }
  return { uid: Number(fields[2]), gid: Number(fields[3]) };
}

/** Gives a cluster to `account`: one that root copied belongs to root, as whom no server runs. */
export async function adopt(dataDirectory: string, { uid, gid }: Account): Promise<void> {
  if ((await stat(dataDirectory)).uid === uid) return;
  const entries = await readdir(dataDirectory, { recursive: true });
  for (const entry of entries) await lchown(join(dataDirectory, entry), uid, gid);
  await chown(dataDirectory, uid, gid);
}
