import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished, vi } from 'vitest';

/** A program that stands for a test's worker. It tells the id of what it started on its output, where the test reads it. */
const STARTS_ONE = `
  import { startNode } from '@orrery/testing/system';
  console.log(startNode('-e', {}, { args: ['setInterval(() => undefined, 60_000)'] }).pid);
`;

it('a process that a test started ends with the worker of the test, which is killed', async () => {
  const worker = spawn(process.execPath, ['--input-type=module', '-e', STARTS_ONE], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void worker.kill('SIGKILL'));
  const [line] = await once(createInterface({ input: worker.stdout }), 'line');
  const pid = Number(line);
  expect(isRunning(pid)).toBe(true);
  worker.kill('SIGKILL');
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
