import { spawn } from 'node:child_process';

/** Ends a process when Node is gone without having said so. */
export interface Watchdog {
  /** From now on the process is nobody's concern: it has ended, or is being ended. */
  dismiss(): void;
}

/** A child process, or what knows its pid. */
interface Watched {
  readonly pid?: number | undefined;
}

/**
 * A shell reads from a pipe that only this Node process holds. A line means dismissal; the end of the pipe means
 * that Node died, `kill -9` included: the process is asked to stop, pressed after 1 s, killed after 5 s.
 * Then the folder, if one is given, is removed.
 */
const script = `
read -r line && exit 0
kill -INT "$1" 2>/dev/null
i=0
while kill -0 "$1" 2>/dev/null && [ $i -lt 55 ]; do
  i=$((i + 1))
  [ $i -eq 10 ] && kill -QUIT "$1" 2>/dev/null
  [ $i -eq 50 ] && kill -KILL "$1" 2>/dev/null
  sleep 0.1
done
[ -z "$2" ] || rm -rf -- "$2"
`;

/** Watches over a process (nothing, if it could not be started); `folder`, if given, is removed after it when Node died. */
export function watchProcess({ pid }: Watched, folder = ''): Watchdog {
  const shell = spawn('/bin/sh', ['-c', script, 'orrery-watchdog', String(pid ?? ''), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  });
  // A watchdog that cannot be started or was killed costs safety, not service: the next start recovers.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  return { dismiss: () => void shell.stdin.end('dismissed\n') };
}
