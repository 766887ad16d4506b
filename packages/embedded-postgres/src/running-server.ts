import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLine } from './process-facts.js';
import { urlOf } from './server-url.js';

/** Lines of `postmaster.pid` (PostgreSQL's `pidfile.h`), counted from 0. */
const PID_LINE = 0;
const SOCKET_DIRECTORY_LINE = 4;

/** The address of a server that already runs on this data directory; `undefined` when none does. */
export async function findRunningPostgres(
  directory: string,
  database = 'orrery',
): Promise<string | undefined> {
  const dataDirectory = await realpath(directory).catch(() => undefined);
  if (dataDirectory === undefined) return undefined;
  const file = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = file.split('\n');
  const socketDirectory = lines[SOCKET_DIRECTORY_LINE];
  const command = await commandLine(Number.parseInt(lines[PID_LINE] ?? '', 10));
  const serves = `${command} `.includes(` -D ${dataDirectory} `);
  return serves && socketDirectory ? urlOf(socketDirectory, database) : undefined;
}
