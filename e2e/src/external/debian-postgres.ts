import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { watchProcess } from '@orrery/embedded-postgres';
import { freePort } from '@orrery/testing/servers';

const run = promisify(execFile);
const HOME = '/usr/lib/postgresql';
/** The user `nobody`: PostgreSQL does not run as root. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export interface DebianPostgres {
  /** Of a database that is there or not. */
  urlOf(database: string): string;
  stop(): Promise<void>;
}

/** Starts the server of Debian's package `postgresql-15` on an empty data directory, on 127.0.0.1. */
export async function startDebianPostgres(): Promise<DebianPostgres> {
  const [version = ''] = (await readdir(HOME)).sort().reverse();
  const programs = join(HOME, version, 'bin');
  const folder = await mkdtemp(join(tmpdir(), 'orrery-debian-'));
  if (account.uid !== undefined) await chown(folder, account.uid, account.gid);
  const data = join(folder, 'data');
  const options = ['-D', data, '-U', 'orrery', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'];
  await run(join(programs, 'initdb'), options, account);
  const port = await freePort();
  const settings = [`listen_addresses=127.0.0.1`, `port=${port}`, `unix_socket_directories=${folder}`];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn(join(programs, 'postgres'), args, { ...account, stdio: ['ignore', 'ignore', 'pipe'] });
  const watchdog = watchProcess(server, folder);
  await untilReady(server);
  return {
    urlOf: (database) => `postgres://orrery@127.0.0.1:${port}/${database}`,
    stop: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGINT');
      await ended;
      watchdog.dismiss();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function untilReady(server: ChildProcess): Promise<void> {
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    if (server.stderr)
      createInterface({ input: server.stderr }).on('line', (line) => {
        if (said.length < 50) said.push(line);
        if (line.includes('ready to accept connections')) resolve();
      });
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said.join('\n')}`)));
  });
}
