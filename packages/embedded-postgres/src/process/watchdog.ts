import { spawn } from 'node:child_process';

/** Ends a process when this Node process dies. */
interface Watchdog {
  /** Stops watching: the process has ended, or is being ended. */
  dismiss(): void;
}

/**
 * A shell reads from a pipe whose other end only this Node process holds. A line means dismissal. The end of the pipe
 * means that Node died, `kill -9` included: the process gets SIGINT, after 1 s SIGQUIT, after 5 s SIGKILL. Then the
 * folder, if one is given, is removed.
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

/** Watches a process, if it could be started. `folder`, if given, is removed after it when Node died. */
export function watchProcess({ pid }: { readonly pid?: number | undefined }, folder = ''): Watchdog {
  const shell = spawn('/bin/sh', ['-c', script, 'orrery-watchdog', String(pid ?? ''), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  });
  // Without a watchdog everything works; an orphan would be cleared by the next start.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  return { dismiss: () => void shell.stdin.end('dismissed\n') };
}
