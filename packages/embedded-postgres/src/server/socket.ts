import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from '../process/account.js';
import { codeOf } from '../process/process-facts.js';

export interface SocketDirectory {
  readonly path: string;
  /** The folder to remove afterwards; empty if the socket is in the data directory. */
  readonly temporary: string;
  release(): Promise<void>;
}

/** `sockaddr_un` holds 104 bytes on macOS and 108 on Linux, including the final zero. */
const longestPath = 103;
const socketName = '.s.PGSQL.5432';

/**
 * The socket is in the data directory, which only its owner may enter. If its path would be too long, or contains
 * characters with a meaning in PostgreSQL's list of directories, it gets a private folder of its own.
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

/** Whether a server accepts connections at the socket in a folder. Many who wait for it (`EAGAIN`) are a sign of one, too. */
export async function accepts(directory: string): Promise<boolean> {
  const socket = createConnection(join(directory, socketName));
  const problem = await once(socket, 'connect').then(() => undefined, codeOf);
  socket.destroy();
  return problem === undefined || problem === 'EAGAIN';
}

/** A URL needs a host, hence `localhost`; the `host` parameter overrides it. */
export function urlOf(socketDirectory: string, database: string): string {
  const host = encodeURIComponent(socketDirectory);
  return `postgres://orrery@localhost:5432/${encodeURIComponent(database)}?host=${host}`;
}
