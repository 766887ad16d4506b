import { execFile, spawn } from 'node:child_process';
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { repositoryRoot } from '@orrery/testing/system';
import { build } from 'esbuild';

/** A program of `examples/subscriber`, and what it has handled. */
export interface Subscriber extends AsyncDisposable {
  /** The numbers of the entries that it handled, by deployment, in this order. */
  readonly handled: ReadonlyMap<string, number[]>;
  /** What it wrote about entries. */
  readonly lines: readonly string[];
  /** What it wrote about faults. */
  complaints(): string;
}

export interface Program {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const examples = join(repositoryRoot, 'examples', 'subscriber');
const run = promisify(execFile);
/** How long an installation may take, in milliseconds. */
const PYPI_MS = 60_000;

/** The program in TypeScript, as a file that any Node runs. */
export async function typescriptProgram(folder: string): Promise<string[]> {
  const outfile = join(folder, 'subscribe.mjs');
  const entryPoints = [join(examples, 'subscribe.ts')];
  const js = `import { createRequire as from } from 'node:module'; const require = from(import.meta.url);`;
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', banner: { js } });
  return [process.execPath, outfile];
}

/**
 * The program in Python, with its one package from PyPI, which is kept. Undefined where PyPI cannot be reached: what a
 * machine needs otherwise comes from npm and Debian.
 */
export async function pythonProgram(): Promise<Program | undefined> {
  const packages = join(repositoryRoot, '.cache', 'nats-py-2.15.0');
  const there = await access(join(packages, 'nats')).then(
    () => true,
    () => false,
  );
  const once = ['--retries', '0', '--timeout', '5', '--disable-pip-version-check'];
  const pip = ['-m', 'pip', 'install', '--quiet', ...once, '--no-deps', '--target', packages];
  try {
    // Where a network drops packets, time alone says that PyPI cannot be reached.
    if (!there) await run('python3', [...pip, 'nats-py==2.15.0'], { timeout: PYPI_MS });
  } catch (error) {
    // An installation that was cut off is no installation.
    await rm(packages, { recursive: true, force: true });
    process.stdout.write(
      `SKIPPED, no PyPI: the subscriber in Python is not run (${(error as Error).message})\n`,
    );
    return undefined;
  }
  return { command: ['python3', join(examples, 'subscribe.py')], env: { PYTHONPATH: packages } };
}

/** Starts a program; what it handled is added to `handled`, so that a second run goes on with the first one's. */
export function startSubscriber(
  [program = '', ...args]: readonly string[],
  env: Record<string, string>,
  handled: Map<string, number[]>,
): Subscriber {
  const { PATH = '' } = process.env;
  const child = spawn(program, args, { env: { PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    const [deployment = '', seq] = line.split(' ');
    const before = handled.get(deployment) ?? [];
    // One that was killed between its effect and its position repeats this entry, and no other.
    if (before.at(-1) !== Number(seq)) handled.set(deployment, [...before, Number(seq)]);
  });
  const gone = new Promise((resolve) => child.once('close', resolve));
  return {
    handled,
    lines,
    complaints: () => complaints,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
