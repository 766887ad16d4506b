import { text as readAll } from 'node:stream/consumers';
import { readGivenFile } from './read-given-file.js';
import { readYaml } from './yaml-text.js';

/** JSON or YAML: written out, where the text begins with a brace or a bracket, else in a file; `-` is the input. */
export async function readDocument(given: string): Promise<unknown> {
  if (/^\s*[{[]/.test(given)) return readYaml(given, 'The value').value;
  const advice = 'give a file in JSON or YAML, or the value itself in braces or brackets.';
  const text = given === '-' ? await readAll(process.stdin) : await readGivenFile(given, advice);
  return readYaml(text, given === '-' ? 'The input' : given).value;
}
