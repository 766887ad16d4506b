import { readFile } from 'node:fs/promises';
import { systemClock } from '@orrery/service-kit';
import { BUILT_COMMAND, type NodeProcess, startProgram } from '@orrery/testing/system';

/** The steps of a move, and what the command says once it has done each (docs/adr/0052). */
export const STEPS = {
  noted: 'noted in the directory',
  published: 'its rows are published',
  subscribed: 'rows are copied',
  in_step: 'the copy follows every commit',
  fenced: 'without owner$',
  flushed: 'the target has every commit',
  arrived: 'its deployments are at the target',
  switched: 'it lives there, after',
  ended: 'moved$',
} as const;

export type Step = keyof typeof STEPS;

/** The command `orrery partitions move` as a process of its own, which has stopped itself right after a step. */
export interface StoppedMover extends AsyncDisposable {
  kill(): Promise<unknown>;
  /** Lets it go on; resolves with its exit code. */
  goOn(): Promise<number | null>;
  output(): string;
}

export async function startMover(
  env: Record<string, string>,
  { partition, targetUrl, step }: { partition: number; targetUrl: string; step: Step },
): Promise<StoppedMover> {
  const { PATH, HOME, TMPDIR } = process.env;
  const args = ['partitions', 'move', String(partition), '--to-url', targetUrl];
  const line = `^partition ${partition}: ${STEPS[step]}`;
  const variables = { PATH, HOME, TMPDIR, ...env, STOP_AFTER: line };
  const program = ['--import', './e2e/src/homes/stop-after.ts', BUILT_COMMAND, ...args];
  const mover = startProgram(process.execPath, program, variables);
  const kill = () => mover.end('SIGKILL');
  try {
    await untilStopped(mover, new RegExp(line, 'm'));
  } catch (error) {
    await kill();
    throw error;
  }
  const goOn = () => mover.end('SIGCONT');
  return { kill, goOn, output: mover.output, [Symbol.asyncDispose]: async () => void (await kill()) };
}

/** It says the line first: a signal to go on that came before it stops would be lost. Linux only. */
async function untilStopped(mover: NodeProcess, line: RegExp): Promise<void> {
  await mover.waitFor(line);
  const isStopped = async () => {
    const stat = await readFile(`/proc/${mover.pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  };
  while (!(await isStopped())) await systemClock.sleep(5);
}
