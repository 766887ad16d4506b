import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { replaceText } from './replace-text.js';

it('replaces a text, and says which file cannot be written and what to do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-replace-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'kept');
  writeFileSync(file, 'old');
  // Another file takes its place: who reads the old one meanwhile reads all of it.
  chmodSync(file, 0o444);
  await replaceText(file, 'new', 'unused');
  expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['new', ['kept']]);
  const lost = join(folder, 'none', 'kept');
  await expect(replaceText(lost, 'new', '--save names another file.')).rejects.toThrow(
    `${lost} cannot be written (ENOENT): --save names another file.`,
  );
});
