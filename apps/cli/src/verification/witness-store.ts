import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import { makeFolder } from '../documents/make-folder.js';
import { replaceText } from '../documents/replace-text.js';

/** What a witness keeps of one deployment, in files of their own. */
export interface WitnessStore {
  /** The last checkpoint that was accepted. */
  readonly checkpoint: Kept;
  /** The public keys that are trusted, one a line. */
  readonly keys: Kept;
  /** A checkpoint that was refused: with the accepted one it convicts who signed both. */
  readonly refused: Kept;
}

interface Kept {
  readonly file: string;
  /** Undefined: nothing is kept. */
  read(): Promise<string | undefined>;
  /** On disk when it resolves; a crash leaves the old text or the new one. */
  write(text: string): Promise<void>;
}

/** @throws StartupError when the folder cannot be used */
export async function openWitnessStore(folder: string, deployment: string): Promise<WitnessStore> {
  await makeFolder(folder, ADVICE);
  const kept = (kind: string): Kept => {
    const file = join(folder, `${deployment}.${kind}`);
    return { file, read: () => readText(file), write: (text) => replaceText(file, text, ADVICE) };
  };
  return { checkpoint: kept('checkpoint'), keys: kept('keys'), refused: kept('refused') };
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unusable(file, error);
  }
}

const ADVICE = '--store names another folder.';

const unusable = (path: string, error: unknown): StartupError =>
  new StartupError(`${path} cannot be used (${(error as NodeJS.ErrnoException).code}): ${ADVICE}`, {
    cause: error,
  });
