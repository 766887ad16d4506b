import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built files of `apps/console`; undefined where it was not built, or not copied with the program. */
export function findConsole(): string | undefined {
  for (let at = dirname(fileURLToPath(import.meta.url)); at !== dirname(at); at = dirname(at)) {
    const folder = join(at, 'apps', 'console', 'dist');
    if (existsSync(join(folder, 'index.html'))) return folder;
  }
  return undefined;
}
