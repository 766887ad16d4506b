import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { repositoryRoot } from '@orrery/testing/system';

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
