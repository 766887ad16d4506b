import { delimiter, join } from 'node:path';
import { readTestEnvironment } from './environment.js';
import { cachedProgram, isProgram, type Program, type ProgramName } from './package-cache.js';

/** Finds a server's program on the PATH or in the cache; downloads nothing. */
export async function findProgram(name: ProgramName): Promise<Program | undefined> {
  const { path } = readTestEnvironment();
  // Debian installs servers in sbin, which is not on an ordinary user's PATH.
  for (const folder of [...path.split(delimiter), '/usr/sbin', '/usr/local/sbin']) {
    const file = join(folder, name);
    if (folder !== '' && (await isProgram(file))) return { file, env: { PATH: path } };
  }
  return cachedProgram(name);
}

/** @throws Error when there is none. Such tests belong under `describeWithNats(…, { own: true })` or the like. */
export async function requireProgram(name: ProgramName): Promise<Program> {
  const program = await findProgram(name);
  if (program === undefined) throw new Error(`${name} is neither on the PATH nor in the cache`);
  return program;
}
