import { hash } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PostgresBinaries } from './binaries.js';
import { INITDB_OPTIONS } from './initdb-options.js';

/** To be raised when `makeTemplate` makes something else of what initdb leaves. */
const FORMAT = 1;
const recipe = hash('sha256', JSON.stringify([FORMAT, INITDB_OPTIONS]), 'hex').slice(0, 8);

/**
 * A template is a cluster as initdb leaves it, its database named, made once by the build: copying it takes a fifth of
 * initdb's time. All copies have one system identifier, which matters to replication alone.
 *
 * @returns its place for these binaries; `undefined` where the package's own folder cannot be told.
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

/** Where the template is; `undefined` when none was built for these binaries, or by a user whose files we may not read. */
export async function findTemplate(binaries: PostgresBinaries): Promise<string | undefined> {
  const folder = templateFolder(binaries);
  if (folder === undefined) return undefined;
  return access(join(folder, 'PG_VERSION'), constants.R_OK).then(
    () => folder,
    () => undefined,
  );
}
