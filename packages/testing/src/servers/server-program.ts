import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { watchProcess } from '@orrery/embedded-postgres';
import type { Program } from '../programs/find-program.js';

/** A server that a test has started and may kill. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Stops it and waits. A temporary folder is removed, a given one stays. */
  stop(): Promise<void>;
  /** Kills it with SIGKILL and waits; folders as in `stop`. */
  kill(): Promise<void>;
}

export interface ServerPlan {
  readonly program: Program;
  readonly args: readonly string[];
  /** Folder to remove when the server has ended; empty for none. */
  readonly temporary: string;
  /** Whether a line of the server's log says that it is ready. */
  readonly readyOn: (line: string) => boolean;
  /** As whom it runs; by default as this process. */
  readonly account?: { readonly uid?: number; readonly gid?: number };
  /** The signal that stops it. Default SIGTERM. */
  readonly stopsOn?: NodeJS.Signals;
}

/** A folder for a server's data: the given one, or a temporary one. */
export async function dataFolder(given: string | undefined): Promise<{ path: string; temporary: string }> {
  if (given !== undefined) return { path: given, temporary: '' };
  const path = await mkdtemp(join(tmpdir(), 'orrery-test-'));
  return { path, temporary: path };
}

/** Starts a server and resolves when its log says that it is ready. It ends with this process. */
export async function runServerProgram(plan: ServerPlan): Promise<Omit<TestServer, 'url' | 'port'>> {
  const { program, args, temporary, account, stopsOn = 'SIGTERM' } = plan;
  const child = spawn(program.file, args, {
    ...account,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: program.env,
    detached: true,
  });
  const gone = once(child, 'close');
  const watchdog = watchProcess(child, temporary);
  const end = async (by: NodeJS.Signals) => {
    child.kill(by);
    await gone;
    watchdog.dismiss();
    if (temporary !== '') await rm(temporary, { recursive: true, force: true });
  };
  const stop = () => end(stopsOn);
  await untilReady(child, plan).catch((error) => end('SIGKILL').then(() => Promise.reject(error)));
  return { pid: child.pid ?? 0, stop, kill: () => end('SIGKILL'), [Symbol.asyncDispose]: stop };
}

function untilReady(child: ChildProcess, { program, readyOn }: ServerPlan): Promise<void> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const onLine = (line: string) => {
      if (said.length < 50) said.push(line);
      if (readyOn(line)) resolve();
    };
    for (const stream of [child.stdout, child.stderr])
      if (stream) createInterface({ input: stream }).on('line', onLine);
    child.once('error', reject);
    child.once('close', () =>
      reject(new Error(`${program.file} ended before it was ready: ${said.join('\n')}`)),
    );
  });
}
