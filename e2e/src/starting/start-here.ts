import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { type NodeProcess, repositoryRoot, startNode } from '@orrery/testing/system';

/** An all-in-one on a folder that outlives it, so that a test can start it again. */
export interface Started {
  readonly process: NodeProcess;
  readonly url: string;
  readonly key: string;
}

/** Variables with which the built all-in-one keeps everything in `dataDirectory` and listens on a free port. */
export const allInOneVariables = (dataDirectory: string, env: Record<string, string> = {}) => ({
  PORT: '0',
  ORRERY_DATA_DIR: dataDirectory,
  ...env,
});

export const runAllInOne = (dataDirectory: string, env: Record<string, string> = {}): NodeProcess =>
  startNode('apps/standalone/dist/bundle/main.js', allInOneVariables(dataDirectory, env));

/** Resolves when it has said all that it says to a newcomer. */
export async function startHere(dataDirectory: string, env: Record<string, string> = {}): Promise<Started> {
  const process = runAllInOne(dataDirectory, env);
  await process.waitFor(/Ctrl-C ends it/);
  const [, url = ''] = await process.waitFor(/runs at (http:\S+)/);
  const [key] = await process.waitFor(/orrery_\w{61}/);
  return { process, url, key };
}

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

/** The command lines of all processes that name this folder: PostgreSQL's servers and watchdogs do. Linux only. */
export async function processesOf(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    // A process that ended meanwhile names nothing.
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.map((line) => line.replaceAll('\0', ' ').trim()).filter((line) => line.includes(folder));
}
