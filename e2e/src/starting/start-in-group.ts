import { type ChildProcess, spawn } from 'node:child_process';
import { repositoryRoot } from '@orrery/testing/system';
import { allInOneVariables } from './start-here.js';

/** The all-in-one as a terminal starts it: in a process group of its own. Resolves when it has said all. */
export async function startInGroup(dataDirectory: string): Promise<ChildProcess> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['apps/standalone/dist/bundle/main.js'], {
    cwd: repositoryRoot,
    env: { PATH, HOME, ...allInOneVariables(dataDirectory) },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`ended before it had started: ${said}`)));
    child.stdout.on('data', (text) => {
      said += text;
      if (said.includes('Ctrl-C ends it')) resolve();
    });
  });
  return child;
}

/** Presses Ctrl-C: a terminal signals the whole foreground group. */
export const pressControlC = ({ pid }: ChildProcess): void => void process.kill(-(pid ?? 0), 'SIGINT');
