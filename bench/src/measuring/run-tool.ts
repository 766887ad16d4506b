import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Debian keeps pgbench beside its server, outside the PATH. */
function postgresFolders(): string[] {
  const root = '/usr/lib/postgresql';
  try {
    return readdirSync(root).map((version) => `${root}/${version}/bin`);
  } catch {
    return [];
  }
}

/**
 * Runs a measuring tool with a script of its own, and answers what it printed.
 * @throws Error that names the Debian package when the tool is missing
 */
export async function runTool(
  name: 'wrk' | 'pgbench',
  script: string,
  argsOf: (file: string) => readonly string[],
): Promise<string> {
  const PATH = [process.env.PATH, ...postgresFolders()].join(':');
  await using folder = await mkdtempDisposable(join(tmpdir(), `orrery-${name}-`));
  const file = join(folder.path, 'script');
  try {
    await writeFile(file, script);
    const options = { env: { ...process.env, PATH }, maxBuffer: 16 * 1024 * 1024 };
    return (await run(name, argsOf(file), options)).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const debianPackage = name === 'wrk' ? 'wrk' : 'postgresql-contrib';
    throw new Error(`${name} is missing: install Debian's package ${debianPackage}.`, { cause: error });
  }
}
