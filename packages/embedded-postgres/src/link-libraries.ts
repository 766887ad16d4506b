import { access, readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import type { PostgresBinaries } from './binaries.js';

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * npm packs no symbolic links, and the package's install script that makes them may have been blocked:
 * makes those of `pg-symlinks.json` that are missing.
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
    // Another start made it between the look and the step.
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
