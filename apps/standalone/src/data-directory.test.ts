import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import { beforeEach, expect, it, vi } from 'vitest';
import { firstKey, openDataDirectory, storedKeys } from './data-directory.js';

let folder: string;
beforeEach(async ({ onTestFinished }) => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-data-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const modeOf = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8);

it('makes a folder that the user of the database server may pass', async () => {
  await openDataDirectory(join(folder, 'a', 'b'));
  expect(await modeOf(join(folder, 'a', 'b'))).toBe('711');
});

it.each(['1777', '2770', '700'])('leaves the mode %s of a folder that is there', async (mode) => {
  const directory = join(folder, 'mine');
  await mkdir(directory);
  await chmod(directory, mode);
  await openDataDirectory(directory);
  expect(await modeOf(directory)).toBe(mode);
});

it.skipIf(process.getuid?.() === 0)('refuses a folder that cannot be written', async () => {
  await chmod(folder, 0o500);
  await expect(openDataDirectory(folder)).rejects.toThrow(/cannot be used \(EACCES\): make it writable/);
});

it('neither replaces keys that it cannot read, nor makes an account for them', async () => {
  const file = join(folder, 'api-key');
  // Reading a folder fails for root too.
  await mkdir(file);
  const db = vi.fn();
  const refusal = /^The file .*api-key cannot be read \(EISDIR\): let the user who runs Orrery read it/;
  await expect(firstKey({ db: db as never, file })).rejects.toThrow(refusal);
  await expect(storedKeys(folder, 'api-key')).rejects.toThrow(StartupError);
  await expect(storedKeys(folder, 'api-key')).rejects.toThrow(refusal);
});

it('makes keys once', async () => {
  const made = await storedKeys(folder, 'webhook-keys', () => 'ab');
  expect([made, await storedKeys(folder, 'webhook-keys', () => 'cd')]).toEqual(['ab\n', 'ab\n']);
  await writeFile(join(folder, 'webhook-keys'), '');
  expect(await storedKeys(folder, 'webhook-keys')).toBe('');
});
