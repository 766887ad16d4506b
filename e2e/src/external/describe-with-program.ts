import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';
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
  if (isInstalled(program)) describe(name, suite);
  else if (process.env['REQUIRE_BACKENDS'] === '1') describe(name, missing);
  else describe.skip(`${name} [SKIPPED, no ${program}]`, missing);
}

const isInstalled = (program: string): boolean => findProgram(program) !== undefined;

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

/** A program that is not ours, under way. */
export interface Program extends AsyncDisposable {
  output(): string;
  /** Its exit code, null where a signal ended it. */
  readonly exited: Promise<number | null>;
}

/** Starts a program at the repository's root; disposing ends it. */
export function startProgram(command: string, args: readonly string[]): Program {
  const child: ChildProcess = spawn(command, args, {
    cwd: repositoryRoot,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  // A program that is not there is told by its exit, whoever waits for it.
  exited.catch(() => undefined);
  return {
    output: () => output,
    exited,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await exited.catch(() => undefined);
    },
  };
}
