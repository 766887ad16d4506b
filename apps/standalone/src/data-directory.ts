import { chmod, mkdir } from 'node:fs/promises';
import { StartupError } from '@orrery/service-kit';

/** Makes the folder that everything is kept in. @throws StartupError when it cannot be made or written. */
export async function openDataDirectory(directory: string): Promise<void> {
  try {
    // 0711: the database server may run as another user and has its own closed folder below.
    await mkdir(directory, { recursive: true });
    await chmod(directory, 0o711);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw new StartupError(
      `The data directory ${directory} cannot be used (${reason}): make it writable or set ORRERY_DATA_DIR to another folder.`,
      { cause: error },
    );
  }
}
