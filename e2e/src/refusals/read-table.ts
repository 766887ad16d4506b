import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A table that stands beside this file. `x*256` in it is a text of 256 letters. */
export const readTable = <Row>(name: string): Readonly<Record<string, Row>> =>
  parse(
    readFileSync(join(import.meta.dirname, name), 'utf8').replaceAll(/\bx\*(\d+)/g, (_, count) =>
      'x'.repeat(Number(count)),
    ),
  );

/** Status, code and, where it is compared, the pointer: `400 validation_failed /event`. */
export function readAnswer(text: string) {
  const [status, code = '', pointer] = text.split(' ');
  return { status: Number(status), code, pointer };
}
