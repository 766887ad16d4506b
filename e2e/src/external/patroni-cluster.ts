import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { watchProcess } from '@orrery/embedded-postgres';
import { holding, type Resources, systemClock } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { freePort, temporaryFolder } from '@orrery/testing/servers';
import { repositoryRoot } from '@orrery/testing/system';
import { account, debianPrograms } from './debian-postgres.js';

/** PostgreSQL under Patroni: a leader and a synchronous standby, whose roles Patroni changes. */
export interface PatroniCluster extends AsyncDisposable {
  /** Names all members. */
  urlOf(database: string): string;
  /** The one that takes writes; waits for it. */
  leader(): Promise<PatroniMember>;
  /** Resolves when every member is there and one of them is a synchronous standby. */
  untilWhole(): Promise<void>;
}

export interface PatroniMember {
  readonly name: string;
  readonly port: number;
  /** As its machine dies: Patroni and PostgreSQL end at once. */
  kill(): Promise<void>;
  /** Starts it again on its data. */
  restart(): void;
}

interface Running extends PatroniMember {
  readonly apiUrl: string;
  stop(): Promise<void>;
}

/** How long a member may take to stop, in milliseconds: PostgreSQL writes a checkpoint, and Patroni gives its role up. */
const STOP_MS = 25_000;
/** The state of a standby is `streaming` from Patroni 3.1 on. */
const UP = ['running', 'streaming'];
/** Seconds. Patroni's own defaults are 30, 10 and 10. */
const PACE = { ttl: 6, loop_wait: 1, retry_timeout: 3 };

/** Starts etcd and two members, whose programs `.ci/unpack-patroni` unpacks. */
export const startPatroniCluster = (): Promise<PatroniCluster> =>
  holding(async (resources) => {
    const folder = await temporaryFolder(resources, 'patroni');
    if (account.uid !== undefined) await chown(folder, account.uid, account.gid);
    const etcd = await startEtcd(resources, join(folder, 'etcd'));
    const members = [await startMember('one', folder, etcd), await startMember('two', folder, etcd)];
    for (const member of members) resources.add(member.name, () => member.stop(), STOP_MS);
    const leader = () =>
      until(async () => {
        const asked = await Promise.all(members.map(({ apiUrl }) => isOk(`${apiUrl}/primary`)));
        return members[asked.indexOf(true)];
      });
    const untilWhole = () =>
      until(async () => {
        const [asked] = members;
        const answer = await fetch(`${asked?.apiUrl}/cluster`).catch(() => undefined);
        const { members: seen = [] } = answer?.ok ? ((await answer.json()) as Seen) : {};
        const roles = seen.filter(({ state }) => UP.includes(state)).map(({ role }) => role);
        return roles.includes('leader') && roles.includes('sync_standby') ? true : undefined;
      }).then(() => undefined);
    await untilWhole();
    const hosts = members.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const urlOf = (database: string) =>
      `postgres://orrery@${hosts}/${database}?target_session_attrs=read-write`;
    return { urlOf, leader, untilWhole };
  }, PATIENT);

interface Seen {
  readonly members?: readonly { readonly role: string; readonly state: string }[];
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await systemClock.sleep(50);
  }
}

const isOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

/** @returns where it listens */
async function startEtcd(resources: Resources, data: string): Promise<string> {
  const [client, peer] = [`127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const args = [
    ...['--data-dir', data, '--listen-client-urls', `http://${client}`],
    ...['--advertise-client-urls', `http://${client}`, '--listen-peer-urls', peer],
    ...['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ];
  const etcd = run(unpacked('usr/bin/etcd'), args);
  resources.add('etcd', () => etcd.end('SIGTERM'));
  await until(async () => ((await isOk(`http://${client}/health`)) ? true : undefined));
  return client;
}

async function startMember(name: string, folder: string, etcd: string): Promise<Running> {
  const programs = await debianPrograms();
  const [port, apiPort] = [await freePort(), await freePort()];
  const data = join(folder, name);
  const file = `${data}.yml`;
  // JSON is YAML.
  await writeFile(
    file,
    JSON.stringify(configurationOf({ name, data, port, apiPort, etcd, folder, programs })),
  );
  const start = () => run('python3', [unpacked('usr/bin/patroni'), file]);
  let patroni = start();
  return {
    name,
    port,
    apiUrl: `http://127.0.0.1:${apiPort}`,
    kill: async () => {
      const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
      const killed = patroni.end('SIGKILL');
      process.kill(Number(pid), 'SIGKILL');
      await killed;
    },
    restart: () => {
      patroni = start();
    },
    // It stops its PostgreSQL first.
    stop: () => patroni.end('SIGTERM'),
  };
}

interface Placed {
  readonly name: string;
  readonly data: string;
  readonly port: number;
  readonly apiPort: number;
  readonly etcd: string;
  readonly folder: string;
  readonly programs: string;
}

const configurationOf = ({ name, data, port, apiPort, etcd, folder, programs }: Placed) => {
  const api = `127.0.0.1:${apiPort}`;
  const user = (username: string) => ({ username, password: 'orrery' });
  return {
    scope: 'orrery',
    name,
    restapi: { listen: api, connect_address: api },
    etcd3: { host: etcd },
    bootstrap: {
      dcs: {
        ...PACE,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 200 } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: programs,
      pgpass: `${data}.pgpass`,
      authentication: {
        superuser: user('orrery'),
        replication: user('replicator'),
        rewind: user('rewinder'),
      },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
    },
  };
};

const unpacked = (path: string): string => join(repositoryRoot, '.cache/patroni', path);

/** Starts a program that ends with this process. */
function run(program: string, args: readonly string[]) {
  const child: ChildProcess = spawn(program, args, {
    ...account,
    cwd: '/',
    env: {
      PATH: process.env['PATH'],
      PYTHONPATH: unpacked('usr/lib/python3/dist-packages'),
      LANG: 'C.UTF-8',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // Read, so that it never waits for room.
  if (child.stderr) void text(child.stderr);
  const gone = once(child, 'exit');
  const watchdog = watchProcess(child);
  return {
    end: async (signal: NodeJS.Signals) => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
        await gone;
      }
      watchdog.dismiss();
    },
  };
}
