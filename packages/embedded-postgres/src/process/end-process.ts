import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from './process-facts.js';

/** A signal and how long the process may take for it, in milliseconds. */
type Step = readonly [signal: NodeJS.Signals, patienceMs: number];

const SHUTDOWN: readonly Step[] = [
  ['SIGINT', 3000],
  ['SIGQUIT', 1200],
  ['SIGKILL', 500],
];

/** Ends a process, by default a server: fast shutdown, then immediate, then killed. Calls `lives` before each signal. */
export async function endProcess(
  pid: number,
  lives: () => Promise<boolean>,
  steps: readonly Step[] = SHUTDOWN,
): Promise<void> {
  for (const [signal, patience] of steps) {
    if (!(await lives()) || !send(pid, signal)) return;
    if (await ended(lives, patience)) return;
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    throw error;
  }
}

async function ended(lives: () => Promise<boolean>, patience: number): Promise<boolean> {
  for (const end = performance.now() + patience; performance.now() < end; ) {
    await delay(10);
    if (!(await lives())) return true;
  }
  return false;
}
