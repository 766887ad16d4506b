import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { StartupError } from '@orrery/service-kit';

/**
 * Writes a file anew. It is on disk when this resolves; a crash leaves the old text or the new one.
 * @param advice what to do where it cannot be written
 * @throws StartupError with the path of the file
 */
export async function replaceText(file: string, text: string, advice: string): Promise<void> {
  try {
    const written = await open(`${file}.new`, 'w', 0o644);
    await written.writeFile(text).finally(() => written.sync().finally(() => written.close()));
    await rename(`${file}.new`, file);
    const folder = await open(dirname(file), 'r');
    await folder.sync().finally(() => folder.close());
  } catch (cause) {
    // On a full disk it would hold what room there is.
    await rm(`${file}.new`, { force: true }).catch(() => undefined);
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartupError(`${resolve(file)} cannot be written (${code}): ${advice}`, { cause });
  }
}
