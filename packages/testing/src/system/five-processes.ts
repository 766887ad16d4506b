import { join } from 'node:path';
import { holding, type Resources, systemClock } from '@orrery/service-kit';
import { PATIENT } from '../programs/patient-release.js';
import { freePort } from '../servers/free-port.js';
import { isOk } from './balancer.js';
import { type NodeProcess, startNode } from './node-process.js';
import type { System } from './system.js';

export const SERVICES = ['catalog', 'runtime', 'scheduler', 'chain-pusher', 'gateway'] as const;

export interface Backends {
  /** The database of all services, and of the command `orrery`. */
  readonly databaseUrl: string;
  /** The database of a service, where each has its own. */
  readonly databaseOf?: ((service: ServiceName) => string) | undefined;
  /** A server for this system alone: two systems on one NATS would answer each other's calls. */
  readonly natsUrl: string | ((service: ServiceName) => string);
  /** The program of a service, below the repository's root. Default: its built `main.js`. */
  readonly programOf?: ((service: ServiceName) => string) | undefined;
  readonly redisUrl?: string | undefined;
  /** Folder for one log file per process, instead of keeping output in memory. */
  readonly logFolder?: string | undefined;
}

export type ServiceName = (typeof SERVICES)[number];

/** The five processes, each of which a test can control. */
export interface FiveProcesses extends System {
  process(name: ServiceName): NodeProcess;
  /** Kills a process with SIGKILL. */
  kill(name: ServiceName): Promise<void>;
  /** Starts a service again after its process has ended; resolves before it is ready. */
  restart(name: ServiceName): NodeProcess;
  /** Starts another process of a service (not the gateway); it ends with the system. */
  add(name: Exclude<ServiceName, 'gateway'>): NodeProcess;
}

/** Starts the five built services as processes and creates a first key with the command `orrery`. */
export function startFiveProcesses(
  backends: Backends,
  env: Record<string, string> = {},
): Promise<FiveProcesses> {
  return holding(async (resources) => {
    const port = await freePort();
    const healthPorts = new Map<ServiceName, number>();
    for (const name of SERVICES) healthPorts.set(name, await freePort());
    const variables = { ...variablesOf(backends), ...env };
    const { logFolder, programOf = builtProgram } = backends;
    const started: NodeProcess[] = [];
    const start = (name: ServiceName, healthPort = 0): NodeProcess => {
      const gatewayPort = name === 'gateway' ? { PORT: String(port) } : {};
      const own = {
        HEALTH_PORT: String(healthPort),
        ...variables,
        ...gatewayPort,
        ...ownVariables(backends, name),
      };
      const outputFile = logFolder && join(logFolder, `${name}.log`);
      const process = resources.use(name, startNode(programOf(name), own, { outputFile }));
      started.push(process);
      return process;
    };
    const processes = Object.fromEntries(
      SERVICES.map((name) => [name, start(name, healthPorts.get(name))]),
    ) as Record<ServiceName, NodeProcess>;
    const url = `http://127.0.0.1:${port}`;
    // The gateway's page says nothing of those behind it.
    for (const each of [port, ...healthPorts.values()]) await untilReady(`http://127.0.0.1:${each}`, started);
    const key = await firstKey(variables, resources);
    return {
      shape: 'five processes',
      url,
      key,
      databaseUrl: backends.databaseUrl,
      homes: [backends.databaseUrl],
      commandEnv: variables,
      output: () => started.map((process) => process.output()).join('\n'),
      process: (name) => processes[name],
      kill: async (name) => void (await processes[name].end('SIGKILL')),
      restart: (name) => {
        processes[name] = start(name);
        return processes[name];
      },
      add: (name) => start(name),
    };
  }, PATIENT);
}

/** Where the build puts a service, as one bundle. */
export const builtProgram = (name: ServiceName): string => `services/${name}/dist/bundle/main.js`;

/** Where it puts the command `orrery`. */
export const BUILT_COMMAND = 'apps/cli/dist/bundle/main.js';

/** Variables that are not the same for every service. */
export const ownVariables = (
  { natsUrl, databaseOf }: Backends,
  name: ServiceName,
): Record<string, string> => ({
  ...(typeof natsUrl === 'function' && { NATS_URL: natsUrl(name) }),
  ...(databaseOf && { DATABASE_URL: databaseOf(name) }),
});

export const variablesOf = ({ databaseUrl, natsUrl, redisUrl }: Backends): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  ...(typeof natsUrl === 'string' && { NATS_URL: natsUrl }),
  ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
});

/** A key of a first account, made with the command `orrery`. */
export async function firstKey(
  env: Record<string, string>,
  resources: Resources,
  program = BUILT_COMMAND,
): Promise<string> {
  const args = ['keys', 'create', '--name', 'tests'];
  const command: NodeProcess = resources.use('keys', startNode(program, env, { args }));
  const [key] = await command.waitFor(/orrery_\w{61}/);
  return key;
}

/** Polls `/readyz` until the system is ready. Fails at once when a process ends. */
async function untilReady(url: string, processes: readonly NodeProcess[]): Promise<void> {
  let ended: string | undefined;
  for (const process of processes) void process.exited.then(() => (ended = process.output()));
  while (ended === undefined) {
    if (await isOk(`${url}/readyz`)) return;
    await systemClock.sleep(20);
  }
  throw new Error(`a service ended before the system was ready:\n${ended}`);
}
