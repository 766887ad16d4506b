import { hash } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PostgresBinaries } from '../binaries/binaries.js';
import { INITDB_OPTIONS } from './initdb.js';

/** Raise it when `makeTemplate` changes what it makes of initdb's output. */
const FORMAT = 1;
const recipe = hash('sha256', JSON.stringify([FORMAT, INITDB_OPTIONS]), 'hex').slice(0, 8);

/**
 * A template is a cluster as initdb leaves it, with its database named, made once by the build. Copying it takes a
 * fifth of initdb's time. All copies share one system identifier, which matters for replication only.
 *
 * @returns the template's path for these binaries; `undefined` if the package's own folder is unknown.
 */
export function templateFolder({ version }: PostgresBinaries): string | undefined {
  const name = `template-${process.platform}-${process.arch}-${version}-${recipe}`;
  try {
    const manifest = createRequire(import.meta.url).resolve('@orrery/embedded-postgres/package.json');
    return join(dirname(manifest), 'dist', name);
  } catch {
    return undefined;
  }
}

/** The path of a readable template for these binaries, or `undefined`. */
export async function findTemplate(binaries: PostgresBinaries): Promise<string | undefined> {
  const folder = templateFolder(binaries);
  if (folder === undefined) return undefined;
  return access(join(folder, 'PG_VERSION'), constants.R_OK).then(
    () => folder,
    () => undefined,
  );
}
