import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { holding, systemClock } from '@orrery/service-kit';
import { PATIENT } from '../programs/patient-release.js';
import { freePort } from './free-port.js';
import { startNatsServer } from './nats-server.js';
import type { TestServer } from './server-program.js';

export interface NatsCluster extends AsyncDisposable {
  /** Names all servers, for a user if it has users. */
  url(user?: string, password?: string): string;
  /** Kills a server and removes its data; the new one that takes its place has none. */
  replace(server: number): Promise<void>;
}

export interface NatsClusterOptions {
  /** Where the servers keep their data. */
  readonly folder: string;
  readonly servers: number;
  /** Configuration of users, and the variables that it refers to. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A cluster of NATS servers with JetStream on this machine; resolves when it has a leader. */
export function startNatsCluster({ folder, servers, ...shared }: NatsClusterOptions): Promise<NatsCluster> {
  return holding(async (resources) => {
    const ports = await portsFor(servers);
    const routes = ports.map(({ cluster }) => `nats://127.0.0.1:${cluster}`).join(',');
    const running: TestServer[] = [];
    const storeOf = (index: number) => join(folder, `nats-${index}`);
    const start = async (index: number) => {
      const { client = 0, cluster = 0, monitor = 0 } = ports[index] ?? {};
      const named = ['--name', `n${index}`, '--cluster_name', 'test', '--http_port', String(monitor)];
      const args = [...named, '--cluster', `nats://127.0.0.1:${cluster}`, '--routes', routes];
      running[index] = await startNatsServer({ port: client, storeDir: storeOf(index), args, ...shared });
    };
    await Promise.all(ports.map((_, index) => start(index)));
    resources.add('servers', async () => void (await Promise.all(running.map((server) => server.stop()))));
    await untilLed(ports.map(({ monitor }) => monitor));
    return {
      url: (user, password) =>
        ports
          .map(
            ({ client }) => `nats://${user === undefined ? '' : `${user}:${password}@`}127.0.0.1:${client}`,
          )
          .join(','),
      replace: async (index) => {
        await running[index]?.kill();
        await rm(storeOf(index), { recursive: true, force: true });
        await start(index);
      },
    };
  }, PATIENT);
}

interface Ports {
  readonly client: number;
  readonly cluster: number;
  readonly monitor: number;
}

async function portsFor(servers: number): Promise<Ports[]> {
  const ports: Ports[] = [];
  for (let n = 0; n < servers; n += 1)
    ports.push({ client: await freePort(), cluster: await freePort(), monitor: await freePort() });
  return ports;
}

/** Until every server knows who leads. */
async function untilLed(monitors: readonly number[]): Promise<void> {
  for (const monitor of monitors) {
    while (!(await knowsLeader(monitor))) await systemClock.sleep(50);
  }
}

async function knowsLeader(monitor: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${monitor}/jsz`).catch(() => undefined);
  const found = (await answer?.json()) as { meta_cluster?: { leader?: string } } | undefined;
  return Boolean(found?.meta_cluster?.leader);
}
