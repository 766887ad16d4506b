import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PostgresBinaries } from './binaries.js';

/**
 * A template is a cluster as initdb leaves it, its database named, made once by the build: copying it takes a fifth of
 * initdb's time. All copies have one system identifier, which matters to replication alone.
 */
export const templateFolder = ({ version }: PostgresBinaries): string => {
  const home = dirname(createRequire(import.meta.url).resolve('@orrery/embedded-postgres/package.json'));
  return join(home, 'dist', `template-${process.platform}-${process.arch}-${version}`);
};

/** Where the template is; `undefined` when none was built for these binaries, or by a user whose files we may not read. */
export async function findTemplate(binaries: PostgresBinaries): Promise<string | undefined> {
  const folder = templateFolder(binaries);
  return access(join(folder, 'PG_VERSION'), constants.R_OK).then(
    () => folder,
    () => undefined,
  );
}
