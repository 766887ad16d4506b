import { StartupError } from '@orrery/service-kit';

/** `ENOSPC` of files, 53100 of PostgreSQL (`disk_full`), and the words of the programs that fill its folder. */
const SAYS_FULL = /ENOSPC|\b53100\b|No space left on device/;

/** Why a start failed: the disk is full, whatever it was that found no space. Other errors stay as they are. */
export function withFullDisk(error: unknown, directory: string): unknown {
  if (!isFullDisk(error)) return error;
  return new StartupError(
    `There is no space left on the disk of ${directory}: make some and start again, or name a folder on another disk with ORRERY_DATA_DIR. A first start needs 60 MB.`,
    { cause: error },
  );
}

function isFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { message, code } = error as NodeJS.ErrnoException;
  return SAYS_FULL.test(`${code ?? ''} ${message}`) || isFullDisk(error.cause);
}
