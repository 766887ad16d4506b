import type { Writable } from 'node:stream';

/**
 * Lines to one of the outputs of the process. Who reads a pipe may leave first, as `head` does: a command that changes
 * something goes on to its end. That an output takes nothing for another reason, such as a full disk, is told once.
 */
export function lineWriter(
  output: Writable,
  fail: (code: string | undefined) => void,
): (line: string) => void {
  let isTold = false;
  output.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || isTold) return;
    isTold = true;
    fail(code);
  });
  return (line) => void output.write(`${line}\n`);
}
