import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const program = fileURLToPath(new URL('./idle-service.ts', import.meta.url));
const fromSource = ['--import', import.meta.resolve('tsx'), '--conditions=@orrery/source'];

/** Every write to it fails, as on a full disk. */
const FULL = '/dev/full';

test.runIf(process.platform === 'linux')(
  'a service whose output cannot be written runs on, and ends with 0 when it is asked to',
  async () => {
    await using full = await open(FULL, 'w');
    const child = spawn(process.execPath, [...fromSource, program], {
      stdio: ['ignore', full.fd, full.fd, 'ipc'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    expect(await Promise.race([once(child, 'message'), exit])).toEqual(['written to', undefined]);
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  },
);
