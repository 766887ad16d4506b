/**
 * Loaded into a program before its own code (`node --import`): it stops itself, as by SIGSTOP, once it has said a line that
 * matches `STOP_AFTER`. So a line that a program says is a point at which a test can kill it, or something that it needs.
 */
const pattern = process.env['STOP_AFTER'];
if (pattern !== undefined) {
  const last = new RegExp(pattern, 'm');
  const write = process.stdout.write.bind(process.stdout) as (...args: unknown[]) => boolean;
  process.stdout.write = (...args: unknown[]): boolean => {
    // To a pipe this is synchronous: who waits for the line has it before.
    const isWritten = write(...args);
    if (last.test(String(args[0]))) process.kill(process.pid, 'SIGSTOP');
    return isWritten;
  };
}
