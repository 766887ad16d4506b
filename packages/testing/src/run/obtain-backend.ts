import type { Resources } from '@orrery/service-kit';
import type { Backend } from '../fixtures/describe-with.js';
import { type ProgramName, requireProgram } from '../programs/find-program.js';
import type { TestServer } from '../servers/server-program.js';

export interface BackendPlan {
  readonly program: ProgramName;
  /** URL of a running server, which is then used. */
  readonly url: string | undefined;
  readonly start: () => Promise<TestServer>;
  readonly container: ContainerPlan;
}

interface ContainerPlan {
  readonly image: string;
  readonly command: readonly string[];
  readonly port: number;
  readonly scheme: string;
}

/** Finds or starts a backend: a given URL, the PATH, the cache, Debian's packages, Docker. */
export async function obtainBackend(
  { program, url, start, container }: BackendPlan,
  resources: Resources,
): Promise<Backend> {
  const noOwn = await whyNoProgram(program);
  if (url !== undefined) return { url, ...(noOwn !== undefined && { noOwn }) };
  try {
    const server = await (noOwn === undefined ? start() : startContainer(container));
    resources.add(program, server.stop);
    return { url: server.url, ...(noOwn !== undefined && { noOwn }) };
  } catch (error) {
    if (noOwn === undefined) throw error;
    return { url: '', noOwn, missing: `${noOwn}; Docker: ${reasonOf(error)}` };
  }
}

async function whyNoProgram(name: ProgramName): Promise<string | undefined> {
  try {
    await requireProgram(name);
    return undefined;
  } catch (error) {
    return `no program ${name}: ${reasonOf(error)}`;
  }
}

/** One line: the last line on standard error of a program, otherwise the first of the error's message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const complaints = 'stderr' in error ? String(error.stderr).trim().split('\n') : [];
  return complaints.at(-1) || error.message.split('\n', 1).join();
}

/** testcontainers is large, so it is loaded only here. */
async function startContainer({
  image,
  command,
  port,
  scheme,
}: ContainerPlan): Promise<Pick<TestServer, 'url' | 'stop'>> {
  const { GenericContainer } = await import('testcontainers');
  const container = await new GenericContainer(image)
    .withCommand([...command])
    .withExposedPorts(port)
    .start();
  const url = `${scheme}://${container.getHost()}:${container.getMappedPort(port)}`;
  return { url, stop: async () => void (await container.stop()) };
}
