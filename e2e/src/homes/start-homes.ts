import { chmod } from 'node:fs/promises';
import { holding, type Resources } from '@orrery/service-kit';
import { createTestDatabase, PATIENT } from '@orrery/testing';
import { query, startNatsServer, temporaryFolder } from '@orrery/testing/servers';
import { type Fleet, type Member, startFleet } from '@orrery/testing/system';
import { expect, vi } from 'vitest';
import { commandLine, type Outcome } from '../starting/command-line.js';
import { SYSTEM_END_MS } from '../starting/start-system.js';
import { type HomeServer, startHomeServer } from './home-server.js';

/** Leases and deadlines that a takeover and a lost answer take seconds with. */
const IMPATIENT = { RATE_LIMITS: 'false', LEASE_TTL_MS: '3000', CALL_DEADLINE_MS: '5000' };
const RUNTIMES = 2;

/** A process of the runtime, by the name under which it holds partitions. */
export interface Runtime {
  readonly name: string;
  readonly member: Member;
}

/** A database in which deployments may live, on a server of its own, with two processes of the runtime. */
export interface Home {
  readonly server: HomeServer;
  readonly runtimes: readonly Runtime[];
  /** The command `orrery` with this database as the runtime's. */
  orrery(...args: string[]): Promise<Outcome>;
  /** The same for a process of its own. */
  readonly commandEnv: Record<string, string>;
  /** Kills a process of the runtime. */
  kill(runtime: Runtime): Promise<void>;
  /** Starts another one; resolves when it is ready. */
  start(): Promise<void>;
}

/**
 * Two homes, the first with all partitions. The directory is in the database of all other services, on a third server that
 * nobody kills: a server that has both a home and the directory is away for both, which is the home's case.
 */
export interface Homes extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly homes: readonly [Home, Home];
  readonly directoryUrl: string;
}

export const startHomes = (prepare: (fleet: Fleet) => Promise<void>): Promise<Homes> =>
  holding(async (resources) => {
    const [first, second] = await startServers(resources);
    const directoryUrl = resources.use('database', await createTestDatabase()).url;
    const nats = await startNatsServer();
    resources.add('nats', () => nats.stop());
    const env = { ...IMPATIENT, RUNTIME_DIRECTORY_URL: directoryUrl };
    const databaseOf = (service: string) => (service === 'runtime' ? first.url : directoryUrl);
    const backends = { databaseUrl: directoryUrl, databaseOf, natsUrl: nats.url, each: 1 };
    const fleet = resources.use('fleet', await startFleet(backends, env), SYSTEM_END_MS);
    // Before there is another database in which they might be made.
    await prepare(fleet);
    const homes = [createHome(fleet, first), createHome(fleet, second)] as const;
    const added = await homes[1].orrery('databases', 'add', 'second');
    if (added.failed) throw new Error(added.stderr);
    // In place of the seconds that an operator waits.
    await query(directoryUrl, `update directory.databases set added_at = now() - interval '1 minute'`);
    await homes[0].fill(fleet.of('runtime'));
    await homes[1].fill([]);
    return { fleet, homes: [homes[0], homes[1]], directoryUrl };
  }, PATIENT);

async function startServers(resources: Resources): Promise<[HomeServer, HomeServer]> {
  const folder = await temporaryFolder(resources, 'homes');
  // Started by root, the servers run as another user.
  await chmod(folder, 0o711);
  const start = async (name: string) => resources.use(name, await startHomeServer(folder, name));
  return [await start('first'), await start('second')];
}

function createHome(fleet: Fleet, server: HomeServer) {
  const variables = { DATABASE_URL: server.url };
  const commandEnv = { ...fleet.commandEnv, ...variables };
  const runtimes: Runtime[] = [];
  const known = new Set<string>();
  /** One starts at a time, so the new name among those that say that they live is its own. */
  const named = async (member: Member) => {
    const name = await vi.waitFor(async () => {
      const [row] = await query<{ instance: string }>(
        server.url,
        'select instance from runtime.members where expires_at > now() and not instance = any($1)',
        [[...known]],
      );
      expect(row).toBeDefined();
      return row?.instance ?? '';
    });
    known.add(name);
    runtimes.push({ name, member });
  };
  const start = async () => named(await fleet.add('runtime', { variables }));
  return {
    server,
    runtimes,
    commandEnv,
    orrery: (...args: string[]) => commandLine(commandEnv).end(...args),
    fill: async (present: readonly Member[]) => {
      for (const member of present) await named(member);
      while (runtimes.length < RUNTIMES) await start();
    },
    kill: async (runtime: Runtime) => {
      runtimes.splice(runtimes.indexOf(runtime), 1);
      await fleet.end(runtime.member, 'SIGKILL');
    },
    start,
  };
}
