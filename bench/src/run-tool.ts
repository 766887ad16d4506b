import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
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

/** Runs a measuring tool and answers what it printed. @throws Error that names the Debian package when it is missing. */
export async function runTool(name: 'wrk' | 'pgbench', args: readonly string[]): Promise<string> {
  const PATH = [process.env.PATH, ...postgresFolders()].join(':');
  const options = { env: { ...process.env, PATH }, maxBuffer: 16 * 1024 * 1024 };
  try {
    return (await run(name, args, options)).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const debianPackage = name === 'wrk' ? 'wrk' : 'postgresql-contrib';
    throw new Error(`${name} is missing: install Debian's package ${debianPackage}.`, { cause: error });
  }
}
