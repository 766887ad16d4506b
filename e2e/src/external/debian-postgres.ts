import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, runServerProgram } from '@orrery/testing/servers';

const HOME = '/usr/lib/postgresql';
/** The user `nobody`: PostgreSQL does not run as root. */
export const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Where Debian has the programs of its newest PostgreSQL. */
export async function debianPrograms(): Promise<string> {
  const [version = ''] = (await readdir(HOME)).sort().reverse();
  return join(HOME, version, 'bin');
}

export interface DebianPostgres {
  /** Of a database that is there or not. */
  urlOf(database: string): string;
  stop(): Promise<void>;
}

/** Starts the server of Debian's package `postgresql-15` on an empty data directory, on 127.0.0.1. */
export async function startDebianPostgres(): Promise<DebianPostgres> {
  const programs = await debianPrograms();
  const temporary = await mkdtemp(join(tmpdir(), 'orrery-debian-'));
  if (account.uid !== undefined) await chown(temporary, account.uid, account.gid);
  const data = join(temporary, 'data');
  const options = ['-D', data, '-U', 'orrery', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'];
  await promisify(execFile)(join(programs, 'initdb'), options, account);
  const port = await freePort();
  const settings = [`listen_addresses=127.0.0.1`, `port=${port}`, `unix_socket_directories=${temporary}`];
  const { stop } = await runServerProgram({
    program: { file: join(programs, 'postgres'), env: process.env },
    args: ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    temporary,
    readyOn: (line) => line.includes('ready to accept connections'),
    account,
    // At once: what is connected does not end by itself.
    stopsOn: 'SIGINT',
  });
  return { urlOf: (database) => `postgres://orrery@127.0.0.1:${port}/${database}`, stop };
}
