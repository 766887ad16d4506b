import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { watchProcess } from '@orrery/embedded-postgres';
import type { Program } from '../backends/package-cache.js';

/** A server that a test started, and may treat as badly as it likes. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Asks it to end and waits. A folder that was made for it is removed, one that was given stays. */
  stop(): Promise<void>;
  /** `kill -9`, waits until it is gone; folders as in `stop`. */
  kill(): Promise<void>;
}

export interface ServerPlan {
  readonly program: Program;
  readonly args: readonly string[];
  /** Removed at the end, whichever way it comes; empty: nothing is. */
  readonly temporary: string;
  /** Says by a line of the server's log whether it is ready. */
  readonly readyOn: (line: string) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A folder for a server's data: the given one, or one that goes with the server. */
export async function dataFolder(given: string | undefined): Promise<{ path: string; temporary: string }> {
  if (given !== undefined) return { path: given, temporary: '' };
  const path = await mkdtemp(join(tmpdir(), 'orrery-test-'));
  return { path, temporary: path };
}

/** Starts a server and resolves when its log says that it is ready. It dies with this process. */
export async function runServerProgram(plan: ServerPlan): Promise<Omit<TestServer, 'url' | 'port'>> {
  const { program, args, temporary, signal } = plan;
  signal?.throwIfAborted();
  const child = spawn(program.file, args, {
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
  const stop = () => end('SIGTERM');
  signal?.addEventListener('abort', stop, { once: true });
  await untilReady(child, plan).catch((error) => end('SIGKILL').then(() => Promise.reject(error)));
  return { pid: child.pid ?? 0, stop, kill: () => end('SIGKILL'), [Symbol.asyncDispose]: stop };
}

function untilReady(child: ChildProcess, { program, readyOn }: ServerPlan): Promise<void> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const hear = (line: string) => {
      if (said.length < 50) said.push(line);
      if (readyOn(line)) resolve();
    };
    for (const stream of [child.stdout, child.stderr])
      if (stream) createInterface({ input: stream }).on('line', hear);
    child.once('error', reject);
    child.once('close', () =>
      reject(new Error(`${program.file} ended before it was ready: ${said.join('\n')}`)),
    );
  });
}
