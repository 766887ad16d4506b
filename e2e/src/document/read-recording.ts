import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exchange } from '@orrery/testing/system';

/** Every exchange that was recorded in a folder, one after the other. */
export async function* readRecording(folder: string): AsyncGenerator<Exchange> {
  for (const name of await readdir(folder)) {
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n');
    for (const line of lines) if (line !== '') yield JSON.parse(line);
  }
}
