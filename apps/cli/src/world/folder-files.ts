import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { StartupError } from '@orrery/service-kit';

/** Files of definitions; others may stand beside them. */
export const ENDING = /\.(ya?ml|json)$/;

/**
 * The names of the files of a folder, or of one below it, in order; undefined where there is none. What begins with a dot is an
 * editor's or another tool's.
 * @throws StartupError for a folder that is there and cannot be read
 */
export async function fileNamesIn(folder: string, below = '.'): Promise<string[] | undefined> {
  const path = join(folder, below);
  const names = await readdir(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new StartupError(`The folder ${resolve(path)} cannot be read (${cause.code}).`, { cause });
  });
  const shown = names?.filter((name) => !name.startsWith('.')).sort();
  const areFiles = await Promise.all((shown ?? []).map((name) => mayBeFile(join(path, name))));
  return shown?.filter((_, at) => areFiles[at]);
}

/** Of a link it counts where it leads. Where that cannot be told, reading it says why. */
const mayBeFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => true,
  );
