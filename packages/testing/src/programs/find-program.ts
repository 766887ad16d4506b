import { execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Finds a server's program on the PATH or in the cache; downloads nothing. */
export async function findProgram(name: ProgramName): Promise<Program | undefined> {
  const { PATH: path = '' } = process.env;
  // Debian installs servers in sbin, which is not on an ordinary user's PATH.
  for (const folder of [...path.split(delimiter), '/usr/sbin', '/usr/local/sbin']) {
    const file = join(folder, name);
    if (folder !== '' && (await isProgram(file))) return { file, env: { PATH: path } };
  }
  return cachedProgram(name);
}

/**
 * Finds a server's program, or unpacks Debian's package of it into the cache.
 * @throws Error when it cannot be had. Such tests belong under `describeWithNats(…, { own: true })` or the like.
 */
export async function requireProgram(name: ProgramName): Promise<Program> {
  const program = (await findProgram(name)) ?? (await fillCache(name));
  if (program === undefined) throw new Error(`no ${name} on the PATH, none in the package`);
  return program;
}

export type ProgramName = 'nats-server' | 'redis-server';

export interface Program {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../../../.cache', import.meta.url));

/** A program that `fillCache` unpacked in an earlier run. */
export async function cachedProgram(name: ProgramName): Promise<Program | undefined> {
  const root = join(cache, name);
  for (const folder of ['usr/bin', 'usr/sbin']) {
    const file = join(root, folder, name);
    if (await isProgram(file)) return { file, env: { LD_LIBRARY_PATH: await libraryPath(root) } };
  }
  return undefined;
}

/** Debian has libraries in a folder named after the machine: `usr/lib/x86_64-linux-gnu`. */
async function libraryPath(root: string): Promise<string> {
  const folders = await readdir(join(root, 'usr', 'lib')).catch(() => []);
  return folders.map((folder) => join(root, 'usr', 'lib', folder)).join(':');
}

/** Unpacks Debian's package, and its missing dependencies, into the cache. Needs no root. */
async function fillCache(name: ProgramName): Promise<Program | undefined> {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, `${name}-`));
  try {
    await download(name, draft);
    for (const file of await readdir(draft)) {
      if (file.endsWith('.deb')) await run('dpkg-deb', ['-x', join(draft, file), join(draft, 'root')]);
    }
    // A concurrent test run may have filled the cache first.
    await rename(join(draft, 'root'), join(cache, name)).catch(() => undefined);
    return await cachedProgram(name);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Uses the machine's package lists, otherwise lists of our own, which need no root. */
async function download(name: ProgramName, folder: string): Promise<void> {
  await downloadWith([], name, folder).catch(async () => {
    const lists = join(cache, 'apt');
    await mkdir(join(lists, 'lists', 'partial'), { recursive: true });
    const own = ['-o', `Dir::State::lists=${join(lists, 'lists')}`, '-o', `Dir::Cache=${lists}`];
    await run('apt-get', [...own, 'update', '-qq'], { timeout: 120_000 });
    await downloadWith(own, name, folder);
  });
}

async function downloadWith(options: readonly string[], name: string, folder: string): Promise<void> {
  const plan = await run('apt-get', [...options, 'install', '-s', '--no-install-recommends', name]);
  const packages = plan.stdout.split('\n').flatMap((line) => /^Inst (\S+)/.exec(line)?.[1] ?? []);
  await run('apt-get', [...options, 'download', '-qq', ...new Set([name, ...packages])], {
    cwd: folder,
    timeout: 120_000,
  });
}

/** Whether the file exists and may be executed. */
export const isProgram = (file: string) =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
