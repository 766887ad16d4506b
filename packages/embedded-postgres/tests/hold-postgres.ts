import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Holder {
  readonly child: ChildProcess;
  readonly url: string;
  readonly pid: number;
  /** Set in place of the rest when the start failed. */
  readonly error?: string;
}

/** Runs `postgres-holder.ts` in a Node process of its own and waits for what it has to say. */
export async function holdPostgres(dataDirectory: string, options: ForkOptions = {}): Promise<Holder> {
  const holder = fileURLToPath(new URL('./postgres-holder.ts', import.meta.url));
  return runHolder(holder, dataDirectory, options);
}

export async function runHolder(
  holder: string,
  dataDirectory: string,
  options: ForkOptions,
): Promise<Holder> {
  const execArgv = ['--import', import.meta.resolve('tsx'), '--conditions=@orrery/source'];
  const child = fork(holder, [dataDirectory], { execArgv, ...options });
  const [told] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (typeof told !== 'object' || told === null) throw new Error(`the holder ended with ${told}`);
  return { child, ...told };
}
