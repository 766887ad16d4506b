import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from './account.js';

export interface SocketDirectory {
  readonly path: string;
  /** The folder to remove afterwards; empty when the socket lies with the data. */
  readonly temporary: string;
  release(): Promise<void>;
}

/** `sockaddr_un` holds 104 bytes on macOS, 108 on Linux, the closing zero among them. */
const longestPath = 103;
const socketName = '.s.PGSQL.5432';

/**
 * The socket lies in the data directory, which only its owner enters. Where its path would be too long, or holds
 * characters that mean something in PostgreSQL's list of directories, it gets a private folder of its own.
 */
export async function chooseSocketDirectory(
  dataDirectory: string,
  account: Account | undefined,
): Promise<SocketDirectory> {
  const plain = /^[\w./-]+$/.test(dataDirectory);
  if (plain && Buffer.byteLength(join(dataDirectory, socketName)) <= longestPath) {
    return { path: dataDirectory, temporary: '', release: async () => undefined };
  }
  const path = await mkdtemp(join(tmpdir(), 'orrery-pg-'));
  if (account !== undefined) await chown(path, account.uid, account.gid);
  return { path, temporary: path, release: () => rm(path, { recursive: true, force: true }) };
}
