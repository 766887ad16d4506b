import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { StartupError } from '@orrery/service-kit';
import { readYaml } from './yaml-text.js';

/** JSON or YAML: written out, where the text begins with a brace or a bracket, else in a file; `-` is the input. */
export async function readDocument(given: string): Promise<unknown> {
  if (/^\s*[{[]/.test(given)) return readYaml(given, 'The value').value;
  const text = given === '-' ? await readAll(process.stdin) : await read(given);
  return readYaml(text, given === '-' ? 'The input' : given).value;
}

const read = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new StartupError(
      `${file} cannot be read (${cause.code}): give a file, or JSON in braces or brackets.`,
      { cause },
    );
  });
