import type { Resources } from '@orrery/service-kit';
import type { Backend } from '../fixtures/describe-with.js';
import { fillCache, findProgram, type ProgramName } from '../programs/find-program.js';
import type { TestServer } from '../servers/server-program.js';

export interface BackendPlan {
  readonly program: ProgramName;
  /** URL of a running server, which is then used. */
  readonly url: string | undefined;
  readonly start: () => Promise<TestServer>;
}

/** Finds or starts a backend: a given URL, the PATH, the cache, Debian's packages. */
export async function obtainBackend(
  { program, url, start }: BackendPlan,
  resources: Resources,
): Promise<Backend> {
  const missing = await whyNoProgram(program);
  if (missing !== undefined)
    return url === undefined ? { url: '', noOwn: missing, missing } : { url, noOwn: missing };
  if (url !== undefined) return { url };
  const server = await start();
  resources.add(program, server.stop);
  return { url: server.url };
}

async function whyNoProgram(name: ProgramName): Promise<string | undefined> {
  try {
    if ((await findProgram(name)) ?? (await fillCache(name))) return undefined;
    return `no ${name} on the PATH, none in the package`;
  } catch (error) {
    return `no ${name} on the PATH; apt-get: ${reasonOf(error)}`;
  }
}

/** One line: the last line on standard error of a program, otherwise the first of the error's message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const complaints = 'stderr' in error ? String(error.stderr).trim().split('\n') : [];
  return complaints.at(-1) || error.message.split('\n', 1).join();
}
