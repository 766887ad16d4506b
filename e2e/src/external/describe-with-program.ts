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

/** Programs that serve as well: Chromium without what draws a window takes a third less of the processor. */
const PREFERRED: Readonly<Record<string, readonly string[]>> = { chromium: ['chromium-headless-shell'] };

/** Where a program of the machine, or one that serves as well, is; undefined where it is missing. */
export const findProgram = (program: string): string | undefined =>
  [...(PREFERRED[program] ?? []), program]
    .flatMap((name) => (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
