import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from './make-folder.js';

const ADVICE = 'choose another folder.';

it('makes a folder with those around it, and leaves one that is there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-make-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const inner = join(folder, 'a/b/c');
  await makeFolder(inner, ADVICE);
  await makeFolder(inner, ADVICE);
  expect((await stat(inner)).isDirectory()).toBe(true);
  await writeFile(join(folder, 'file'), '');
  await expect(makeFolder(join(folder, 'file/below'), ADVICE)).rejects.toThrow(
    `The folder ${join(folder, 'file/below')} cannot be made (ENOTDIR): choose another folder.`,
  );
});

it.runIf(process.platform === 'linux')('ends where a folder takes no other', async () => {
  await expect(makeFolder('/proc/orrery/schemas', ADVICE)).rejects.toThrow(
    'The folder /proc/orrery/schemas cannot be made (ENOENT): choose another folder.',
  );
});
