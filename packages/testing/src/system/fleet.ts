import { holding, systemClock } from '@orrery/service-kit';
import { PATIENT } from '../programs/patient-release.js';
import { freePort } from '../servers/free-port.js';
import { type BalancedServer, isOk, startBalancer, watchReadiness } from './balancer.js';
import {
  type Backends,
  builtProgram,
  firstKey,
  ownVariables,
  SERVICES,
  type ServiceName,
  variablesOf,
} from './five-processes.js';
import { type NodeProcess, startNode } from './node-process.js';
import type { System } from './system.js';

/** One process of a fleet. */
export interface Member {
  readonly service: ServiceName;
  readonly process: NodeProcess;
  /** Where it answers `/readyz` and `/metrics`. */
  readonly healthUrl: string;
  /** Where a gateway takes requests. */
  readonly port: number;
}

/** Several processes of each service, behind a balancer that asks which gateways are ready. */
export interface Fleet extends System {
  /** The processes of a service that were not ended, oldest first. */
  of(service: ServiceName): readonly Member[];
  /** Starts another process; resolves when it is ready. */
  add(service: ServiceName, options?: MemberOptions): Promise<Member>;
  /** Ends a process and resolves with its exit code. */
  end(member: Member, signal?: NodeJS.Signals): Promise<number | null>;
}

export interface MemberOptions {
  /** Its program, below the repository's root, if it is not that of its service. */
  readonly program?: string;
  /** In place of those that all processes have. */
  readonly variables?: Record<string, string>;
}

export interface FleetOptions extends Backends {
  /** The command `orrery`, if it is not the built one. */
  readonly command?: string;
  /** How many processes of each service to start. Default 2. */
  readonly each?: number | Partial<Record<ServiceName, number>>;
}

/** Starts a fleet and creates a first key with the command `orrery`; resolves when every process is ready. */
export function startFleet(options: FleetOptions, env: Record<string, string> = {}): Promise<Fleet> {
  return holding(async (resources) => {
    const variables = { ...variablesOf(options), ...env };
    const members = new Set<Member & BalancedServer>();
    const outputs: (() => string)[] = [];
    const ending = new AbortController();
    resources.add('readiness', () => ending.abort());
    const add: Fleet['add'] = async (service, { program, variables: others } = {}) => {
      const own = { ...variables, ...ownVariables(options, service), ...others };
      const member = await startMember(service, program ?? (options.programOf ?? builtProgram)(service), own);
      resources.use(service, member.process, END_MS);
      outputs.push(member.process.output);
      const isReady = watchReadiness(member.healthUrl, ending.signal);
      members.add({ ...member, isReady });
      await untilReady(member);
      return member;
    };
    const firstOnes = SERVICES.flatMap((service) =>
      Array.from({ length: countOf(options, service) }, () => add(service)),
    );
    await Promise.all(firstOnes);
    const of: Fleet['of'] = (service) => [...members].filter((one) => one.service === service);
    const gateways = () => [...members].filter(({ service }) => service === 'gateway');
    const balancer = resources.use('balancer', await startBalancer(gateways));
    while (!(await isOk(`${balancer.url}/readyz`))) await systemClock.sleep(20);
    return {
      shape: 'several processes of each service',
      url: balancer.url,
      key: await firstKey(variables, resources, options.command),
      databaseUrl: options.databaseUrl,
      homes: [options.databaseUrl],
      commandEnv: variables,
      output: () => outputs.map((output) => output()).join('\n'),
      of,
      add,
      end: async (member, signal) => {
        // The balancer learns of it from the process, as it would anywhere.
        const code = await member.process.end(signal);
        for (const one of members) if (one.process === member.process) members.delete(one);
        return code;
      },
    };
  }, PATIENT);
}

/** How long a process may take to end, in milliseconds: a tenth of a second on a quiet machine. */
const END_MS = 30_000;

const countOf = ({ each = 2 }: FleetOptions, service: ServiceName): number =>
  typeof each === 'number' ? each : (each[service] ?? 1);

async function startMember(
  service: ServiceName,
  program: string,
  variables: Record<string, string>,
): Promise<Member> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const own = { HEALTH_PORT: String(healthPort), ...(service === 'gateway' && { PORT: String(port) }) };
  return {
    service,
    port,
    healthUrl: `http://127.0.0.1:${healthPort}`,
    process: startNode(program, { ...variables, ...own }),
  };
}

/** @throws Error when the process ends first */
async function untilReady({ service, process, healthUrl }: Member): Promise<void> {
  let hasEnded = false;
  void process.exited.then(() => (hasEnded = true));
  while (!(await isOk(`${healthUrl}/readyz`))) {
    if (hasEnded) throw new Error(`${service} ended before it was ready:\n${process.output()}`);
    await systemClock.sleep(20);
  }
}
