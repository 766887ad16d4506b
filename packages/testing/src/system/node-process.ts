import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { watchProcess } from '@orrery/embedded-postgres';

/** The repository's root, to which paths of built programs are relative. */
export const repositoryRoot = fileURLToPath(new URL('../../../../', import.meta.url));

export interface NodeProcess extends AsyncDisposable {
  readonly pid: number;
  /** All output so far, stdout and stderr interleaved. */
  output(): string;
  /** Resolves with the match once the output contains it; rejects when the process ends first. */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Sends a signal and resolves with the exit code (null when a signal ended it). */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  readonly exited: Promise<number | null>;
}

export interface StartOptions {
  readonly args?: readonly string[];
  /**
   * File for its output, which is otherwise read into memory; reading takes time from the programs under test.
   * `waitFor` then checks the file when it is called and when the program ends.
   */
  readonly outputFile?: string | undefined;
}

/**
 * Starts a built program of the repository with exactly these variables (and PATH, HOME, TMPDIR). Its HTTP exchanges
 * are recorded if `RECORD_EXCHANGES` is set.
 */
export function startNode(
  entry: string,
  env: Record<string, string>,
  { args = [], outputFile }: StartOptions = {},
): NodeProcess {
  const { PATH, HOME, TMPDIR, RECORD_EXCHANGES } = process.env;
  const recorder = RECORD_EXCHANGES ? ['--import', '@orrery/testing/recording'] : [];
  const variables = { PATH, HOME, TMPDIR, RECORD_EXCHANGES, ...env };
  return startProgram(process.execPath, [...recorder, entry, ...args], variables, outputFile);
}

/** Starts a program of the machine at the repository's root. */
export function startProgram(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  outputFile?: string,
): NodeProcess {
  const file = outputFile === undefined ? undefined : openSync(outputFile, 'a');
  const child = spawn(command, args, {
    cwd: repositoryRoot,
    env,
    stdio: ['ignore', file ?? 'pipe', file ?? 'pipe'],
  });
  if (file !== undefined) closeSync(file);
  let read = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      read += text;
      child.emit('output');
    });
  }
  const output = () => (outputFile === undefined ? read : readFileSync(outputFile, 'utf8'));
  // A test that timed out has disposed of nothing: its processes end with the test worker, which Vitest kills.
  const watchdog = watchProcess(child);
  const exited = once(child, 'close').then(([code]) => {
    watchdog.dismiss();
    return code as number | null;
  });
  const end = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exited;
  };
  return {
    pid: child.pid ?? -1,
    output,
    waitFor: (pattern) => matchInOutput(child, exited, output, pattern),
    end,
    exited,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) await end();
    },
  };
}

async function matchInOutput(
  child: ChildProcess,
  closed: Promise<unknown>,
  output: () => string,
  pattern: RegExp,
): Promise<RegExpMatchArray> {
  // What a process wrote last may arrive after its exit, but not after its output was closed.
  const ended = closed.then(() => 'ended' as const);
  for (let state: unknown; ; ) {
    const match = output().match(pattern);
    if (match !== null) return match;
    if (state === 'ended') throw new Error(`ended before it wrote ${pattern}:\n${output()}`);
    state = await Promise.race([once(child, 'output'), ended]);
  }
}
