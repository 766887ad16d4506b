import { delimiter, join } from 'node:path';
import { readTestEnvironment } from '../environment.js';
import { cachedProgram, isProgram, type Program, type ProgramName } from './package-cache.js';

/** A server's program from the PATH or the cache; nothing is fetched. */
export async function findProgram(name: ProgramName): Promise<Program | undefined> {
  const { path } = readTestEnvironment();
  // Debian keeps servers in sbin, which an ordinary user's PATH leaves out.
  for (const folder of [...path.split(delimiter), '/usr/sbin', '/usr/local/sbin']) {
    const file = join(folder, name);
    if (folder !== '' && (await isProgram(file))) return { file, env: { PATH: path } };
  }
  return cachedProgram(name);
}

/** @throws Error when there is none: such a test belongs under `describeWithNats(…, { own: true })` and its like. */
export async function requireProgram(name: ProgramName): Promise<Program> {
  const program = await findProgram(name);
  if (program === undefined) throw new Error(`${name} is neither on the PATH nor in the cache`);
  return program;
}
