import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer as readAll } from 'node:stream/consumers';
import { parseJson } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { readYaml } from './yaml-text.js';

/** JSON or YAML: written out, where the text begins with a brace or a bracket, else in a file; `-` is the input. */
export async function readDocument(given: string): Promise<unknown> {
  if (/^\s*[{[]/.test(given)) return readYaml(given, 'The value').value;
  const advice = 'give a file in JSON or YAML, or the value itself in braces or brackets.';
  if (given !== '-') return readYaml(await readGivenFile(given, advice), given).value;
  return readYaml(decoded(await readAll(process.stdin), 'The input'), 'The input').value;
}

/**
 * The text of a file that was named on the command line, or is one of a folder that was.
 * @param advice what to do where there is no such file
 * @throws StartupError with the path of the file
 */
export async function readGivenFile(file: string, advice: string): Promise<string> {
  const path = resolve(file);
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    const reason =
      cause.code === 'ENOENT' ? `There is no file ${path}` : `${path} cannot be read (${cause.code})`;
    throw new StartupError(`${reason}: ${advice}`, { cause });
  });
  return decoded(bytes, path);
}

/** Without the mark of UTF-8, if it has one. @throws StartupError for another encoding, whose letters would be lost */
function decoded(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new StartupError(`${what} is not UTF-8: save it as UTF-8.`, { cause });
  }
}

/**
 * A value as it is typed: JSON where it is JSON, otherwise the text itself. A whole number that JSON would change is a
 * text, too. @throws StartupError for any other number that JSON would change
 */
export function readValue(text: string): unknown {
  if (/^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text))) return text;
  const value = valueIn(text);
  // For what it says of numbers.
  if (typeof value === 'number' || typeof value === 'object') readYaml(text, text);
  return value;
}

function valueIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
