import { once } from 'node:events';
import { createServer } from 'node:net';
import { holding, type Resources } from '@orrery/service-kit';
import { type NodeProcess, startNode } from './node-process.js';
import type { System } from './system.js';
import { untilReady } from './until-ready.js';

export const SERVICES = ['catalog', 'runtime', 'scheduler', 'chain-pusher', 'gateway'] as const;

export interface Backends {
  readonly databaseUrl: string;
  /** A server of its own: two systems on one NATS would answer each other's calls. */
  readonly natsUrl: string;
  readonly redisUrl?: string | undefined;
}

/** Starts the five built services, each a process, and makes a first key with the operator's command. */
export function startFiveProcesses(backends: Backends, env: Record<string, string> = {}): Promise<System> {
  return holding(async (resources) => {
    const port = await freePort();
    const variables = { ...variablesOf(backends), ...env };
    const processes = SERVICES.map((name) => {
      const own = name === 'gateway' ? { PORT: String(port) } : {};
      const entry = `services/${name}/dist/main.js`;
      return resources.use(name, startNode(entry, { HEALTH_PORT: '0', ...variables, ...own }));
    });
    const output = () => processes.map((process) => process.output()).join('\n');
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url, processes);
    const key = await firstKey(variables, resources);
    return { shape: 'five processes', url, key, databaseUrl: backends.databaseUrl, output };
  });
}

const variablesOf = ({ databaseUrl, natsUrl, redisUrl }: Backends): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  NATS_URL: natsUrl,
  ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
});

async function firstKey(env: Record<string, string>, resources: Resources): Promise<string> {
  const args = ['keys', 'create', '--name', 'tests'];
  const command: NodeProcess = resources.use('keys', startNode('packages/cli/dist/main.js', env, args));
  const [key] = await command.waitFor(/orrery_\w+/);
  return key;
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
