import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { readDocument } from './read-document.js';

const TEXT = 'name: Käthe\n';
const OTHERS = [
  ['Latin-1', Buffer.from(TEXT, 'latin1')],
  ['UTF-16', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
] as const;

afterEach(() => vi.restoreAllMocks());

async function fileOf(bytes: Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-document-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'ann.yaml'), bytes);
  return join(folder, 'ann.yaml');
}

const typed = (bytes: Buffer) =>
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([bytes]) as typeof process.stdin);

it('is read in UTF-8, with its mark or without', async () => {
  for (const text of [TEXT, `\ufeff${TEXT}`, `\ufeff{"name": "Käthe"}`]) {
    expect(await readDocument(await fileOf(Buffer.from(text)))).toEqual({ name: 'Käthe' });
    typed(Buffer.from(text));
    expect(await readDocument('-')).toEqual({ name: 'Käthe' });
  }
});

it.each(OTHERS)('is refused in %s, of which letters would be lost', async (_, bytes) => {
  const file = await fileOf(bytes);
  await expect(readDocument(file)).rejects.toThrow(`${file} is not UTF-8: save it as UTF-8.`);
  typed(bytes);
  await expect(readDocument('-')).rejects.toThrow('The input is not UTF-8: save it as UTF-8.');
});
