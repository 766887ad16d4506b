import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { StartupError } from '@orrery/service-kit';

/**
 * The text of a file that was named on the command line.
 * @param advice what to do where there is no such file
 * @throws StartupError with the path that was looked at
 */
export const readGivenFile = (file: string, advice: string): Promise<string> =>
  readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const path = resolve(file);
    const reason =
      cause.code === 'ENOENT' ? `There is no file ${path}` : `${path} cannot be read (${cause.code})`;
    throw new StartupError(`${reason}: ${advice}`, { cause });
  });
