import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, test } from 'vitest';

/**
 * A suite that needs a program of the machine. Where it is missing the suite's name says so; with `REQUIRE_BACKENDS=1`
 * that is a failure.
 */
export function describeWithProgram(program: string, name: string, suite: () => void): void {
  const missing = () =>
    test(`${program} is installed`, () => {
      throw new Error(`${program} is missing; on Debian: apt-get install ${program}`);
    });
  if (findProgram(program) !== undefined) describe(name, suite);
  else if (process.env['REQUIRE_BACKENDS'] === '1') describe(name, missing);
  else describe.skip(`${name} [SKIPPED, no ${program}]`, missing);
}

/** Where a program of the machine is; undefined where it is missing. */
export const findProgram = (program: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
