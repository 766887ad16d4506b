import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { StartupError } from '@orrery/service-kit';

/**
 * Makes a folder and those that it stands in, where they are not there.
 * @param advice what to do where it cannot be made
 * @throws StartupError with the path of the folder
 */
export async function makeFolder(folder: string, advice: string): Promise<void> {
  await makeWithParents(resolve(folder)).catch((cause: NodeJS.ErrnoException) => {
    throw new StartupError(`The folder ${resolve(folder)} cannot be made (${cause.code}): ${advice}`, {
      cause,
    });
  });
}

/** `recursive` of Node tries for ever where a folder that is there says ENOENT to a new one, as /proc does. */
async function makeWithParents(path: string): Promise<void> {
  const code = await mkdir(path).then(
    () => undefined,
    (cause: NodeJS.ErrnoException) => cause.code,
  );
  if (code === undefined || code === 'EEXIST') return;
  if (code === 'ENOENT' && dirname(path) !== path) await makeWithParents(dirname(path));
  await mkdir(path);
}
