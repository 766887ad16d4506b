import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@orrery/testing/system';
import { build } from 'esbuild';

/** The programs of a release, as bundles. */
export interface Release {
  readonly commit: string;
  /** A program's file below the repository's root. */
  programOf(name: string): string;
}

const run = promisify(execFile);
const PROGRAMS = {
  gateway: 'services/gateway',
  catalog: 'services/catalog',
  runtime: 'services/runtime',
  scheduler: 'services/scheduler',
  'chain-pusher': 'services/chain-pusher',
  orrery: 'apps/cli',
};

/**
 * Bundles the services of a commit from their sources into the cache, once. Undefined where the repository does not have the
 * commit, as a shallow clone.
 */
export async function buildRelease(ref: string): Promise<Release | undefined> {
  const commit = await git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`).catch(() => undefined);
  if (commit === undefined) return undefined;
  const releases = join('.cache', 'releases');
  const folder = join(repositoryRoot, releases, commit);
  const isBuilt = await access(folder).then(
    () => true,
    () => false,
  );
  if (!isBuilt) await buildInto(folder, commit);
  return { commit, programOf: (name) => join(releases, commit, name, 'main.mjs') };
}

async function buildInto(folder: string, commit: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}-`);
  const sources = join(draft, 'sources');
  try {
    await mkdir(sources);
    const archive = join(draft, 'sources.tar');
    await git('archive', '--output', archive, commit);
    await run('tar', ['-xf', archive, '-C', sources]);
    await linkPackages(sources);
    await bundle(sources, join(draft, 'programs')).catch(async () => {
      // Its packages are not the present ones.
      await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: sources });
      await bundle(sources, join(draft, 'programs'));
    });
    // Another run may have built it meanwhile.
    await rename(join(draft, 'programs'), folder).catch(() => undefined);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

interface Locked {
  readonly link?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
}

/** Installs the packages that are the same in the present tree by links to them, and those of the workspace. */
async function linkPackages(sources: string): Promise<void> {
  const [theirs, ours] = await Promise.all([sources, repositoryRoot].map(packagesOf));
  const linked: string[] = [];
  for (const [path, { link, resolved = '', integrity }] of Object.entries(theirs ?? {})) {
    if (!path.includes('node_modules/') || linked.some((parent) => path.startsWith(`${parent}/`))) continue;
    const isSame = integrity !== undefined && ours?.[path]?.integrity === integrity;
    if (!link && !isSame) continue;
    await mkdir(dirname(join(sources, path)), { recursive: true });
    await symlink(link ? join(sources, resolved) : join(repositoryRoot, path), join(sources, path));
    linked.push(path);
  }
}

async function packagesOf(root: string): Promise<Record<string, Locked>> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  return lock.packages as Record<string, Locked>;
}

/** CommonJS packages ask for Node's own modules by `require`, which an ES module has not. */
const js = `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`;

async function bundle(sources: string, outdir: string): Promise<void> {
  const entryPoints = Object.entries(PROGRAMS).map(([name, path]) => ({
    in: join(sources, path, 'src/main.ts'),
    out: `${name}/main`,
  }));
  await build({
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    conditions: ['@orrery/source'],
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
    banner: { js },
    logLevel: 'silent',
  });
}

const git = async (...args: string[]): Promise<string> =>
  (await run('git', args, { cwd: repositoryRoot })).stdout.trim();

/** The commit of the release before: an upgrade from it is tested. A release puts its own here. */
export const PREVIOUS_RELEASE = '9fe71be2207680f5795a060f02393c7627310297';
