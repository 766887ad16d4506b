import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { HashedEntry } from '@orrery/contracts';
import { expect, test } from 'vitest';
import { entryText, genesisHash, hashOf } from './entry.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const page = readFileSync(new URL('../../../../docs/history.md', import.meta.url), 'utf8');
const [, example = ''] = /### Worked example\n(.*?)\n###? /s.exec(page) ?? [];
const texts = [...example.matchAll(/```text\n(.*)\n```/g)].map(([, text = '']) => text);
const hashes = [...example.matchAll(/```\n([0-9a-f]{64})\n```/g)].map(([, hash = '']) => hash);

/** Written by the release that knew version 1 alone: ten entries of one journal, with everything that JSON has. */
const ofVersion1: (HashedEntry & { hash: string })[] = JSON.parse(
  readFileSync(new URL('./entries-of-version-1.json', import.meta.url), 'utf8'),
);

test('entries of version 1 keep the hashes that they were written with', () => {
  expect(ofVersion1).toHaveLength(10);
  for (const { hash, ...entry } of ofVersion1)
    expect([hashOf(entry), sha256(entryText(entry))]).toEqual([hash, hash]);
});

test("the documentation's worked example holds", () => {
  const [origin = '', ...entries] = texts;
  expect([entries.length, hashes.length]).toEqual([3, 4]);
  expect(genesisHash(JSON.parse(origin))).toBe(hashes[0]);
  for (const [index, text] of entries.entries()) {
    const entry = JSON.parse(text) as HashedEntry;
    expect(entryText(entry)).toBe(text);
    expect(entry.prevHash).toBe(hashes[index]);
    expect(hashOf(entry)).toBe(hashes[index + 1]);
  }
});
