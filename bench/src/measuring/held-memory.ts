import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { NodeProcess } from '@orrery/testing/system';

const PROGRAM = fileURLToPath(new URL('../../programs/report-memory.mjs', import.meta.url));
const PATIENCE_MS = 10_000;

/** Variables of processes whose `heldMemory` is to be asked for; makes the folder that they answer in. */
export async function reportingMemory(folder: string): Promise<Record<string, string>> {
  await mkdir(folder, { recursive: true });
  return { HELD_MEMORY: folder, NODE_OPTIONS: `--expose-gc --import ${PROGRAM}` };
}

/**
 * What a process holds after a collection of all garbage, in bytes: what would grow without end. Its memory as the kernel
 * counts it rises to what the garbage of the heaviest moment took, and stays there.
 */
export async function heldMemory({ pid }: Pick<NodeProcess, 'pid'>, folder: string): Promise<number> {
  const file = join(folder, String(pid));
  await rm(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return Number(text);
    await setTimeout(20);
  }
  throw new Error(`process ${pid} has not told its memory`);
}
