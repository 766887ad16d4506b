import type { Resources } from '@orrery/service-kit';
import type { Backend } from '../fixtures/describe-with.js';
import { fillCache, findProgram, type ProgramName } from '../programs/find-program.js';
import type { TestServer } from '../servers/server-program.js';

export interface BackendPlan {
  readonly program: ProgramName;
  /** URL of a running server, which is then used. */
  readonly url: string | undefined;
  readonly start: () => Promise<TestServer>;
  readonly container: ContainerPlan;
}

/** Finds or starts a backend: a given URL, the PATH, the cache, Debian's packages, Docker. */
export async function obtainBackend(plan: BackendPlan, resources: Resources): Promise<Backend> {
  const noOwn = await whyNoProgram(plan.program);
  if (plan.url !== undefined) return { url: plan.url, ...noOwn };
  if (noOwn === undefined) return { url: await hold(plan, plan.start(), resources) };
  try {
    return { url: await hold(plan, startContainer(plan.container), resources), ...noOwn };
  } catch (error) {
    return { url: '', ...noOwn, missing: `${noOwn.noOwn}; Docker: ${reasonOf(error)}` };
  }
}

type Startable = Pick<TestServer, 'url' | 'stop'>;

async function hold(plan: BackendPlan, starting: Promise<Startable>, resources: Resources): Promise<string> {
  const { url, stop } = await starting;
  resources.add(plan.program, stop);
  return url;
}

async function whyNoProgram(name: ProgramName): Promise<{ noOwn: string } | undefined> {
  try {
    if ((await findProgram(name)) ?? (await fillCache(name))) return undefined;
    return { noOwn: `no ${name} on the PATH, none in the package` };
  } catch (error) {
    return { noOwn: `no ${name} on the PATH; apt-get: ${reasonOf(error)}` };
  }
}

/** One line: the last line on standard error of a program, otherwise the first of the error's message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const complaints = 'stderr' in error ? String(error.stderr).trim().split('\n') : [];
  return complaints.at(-1) || error.message.split('\n', 1).join();
}

interface ContainerPlan {
  readonly image: string;
  readonly command: string[];
  readonly port: number;
  readonly scheme: string;
}

/** Starts a container. testcontainers is large, so it is loaded only here. */
async function startContainer(plan: ContainerPlan): Promise<{ url: string; stop: () => Promise<void> }> {
  const { GenericContainer } = await import('testcontainers');
  const container = await new GenericContainer(plan.image)
    .withCommand(plan.command)
    .withExposedPorts(plan.port)
    .start();
  const url = `${plan.scheme}://${container.getHost()}:${container.getMappedPort(plan.port)}`;
  return { url, stop: async () => void (await container.stop()) };
}
