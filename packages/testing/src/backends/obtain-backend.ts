import type { Resources } from '@orrery/service-kit';
import type { Backend } from '../provided.js';
import type { TestServer } from '../servers/server-program.js';
import { type ContainerPlan, startContainer } from './container.js';
import { findProgram, type ProgramName } from './find-program.js';
import { fillCache } from './package-cache.js';

export interface BackendPlan {
  readonly program: ProgramName;
  /** Of a server that somebody else runs; it comes before all other ways. */
  readonly url: string | undefined;
  readonly start: () => Promise<TestServer>;
  readonly container: ContainerPlan;
}

/** Runs a backend from where it can be had: a given URL, the PATH, the cache, Debian's packages, Docker. */
export async function obtainBackend(plan: BackendPlan, resources: Resources): Promise<Backend> {
  if (plan.url !== undefined) return { url: plan.url };
  const tried: string[] = [];
  if (await hasProgram(plan.program, tried)) {
    const server = await plan.start();
    resources.add(plan.program, server.stop);
    return { url: server.url };
  }
  try {
    const container = await startContainer(plan.container);
    resources.add(plan.program, container.stop);
    return { url: container.url };
  } catch (error) {
    tried.push(`Docker: ${reasonOf(error)}`);
  }
  return { missing: `no ${plan.program} on the PATH; ${tried.join('; ')}` };
}

async function hasProgram(name: ProgramName, tried: string[]): Promise<boolean> {
  if ((await findProgram(name)) !== undefined) return true;
  try {
    return (await fillCache(name)) !== undefined;
  } catch (error) {
    tried.push(`apt-get: ${reasonOf(error)}`);
    return false;
  }
}

const reasonOf = (error: unknown) =>
  String(error instanceof Error ? error.message : error)
    .split('\n', 1)
    .join();
