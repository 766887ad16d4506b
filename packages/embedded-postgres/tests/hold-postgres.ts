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

/** Arguments of Node for a program in TypeScript. */
const FROM_SOURCE = ['--import', import.meta.resolve('tsx'), '--conditions=@orrery/source'] as const;

/** What `fork` takes to run the program as a container would: it sees no processes but its own. */
export const contained = (variables: Readonly<Record<string, string>> = {}): ForkOptions => {
  const own = ['--pid', '--fork', '--kill-child', '--mount-proc', '--ipc'];
  const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return { execPath: 'unshare', execArgv: [...own, 'env', ...set, process.execPath, ...FROM_SOURCE] };
};

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
  const child = fork(holder, [dataDirectory], { execArgv: [...FROM_SOURCE], ...options });
  const [told] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (typeof told !== 'object' || told === null) throw new Error(`the holder ended with ${told}`);
  return { child, ...told };
}
