import { readFileSync } from 'node:fs';
import type { HashedEntry } from '@orrery/contracts';
import { expect, test } from 'vitest';
import { entryText, genesisHash, hashOf } from './entry.js';

const page = readFileSync(new URL('../../../../../docs/history.md', import.meta.url), 'utf8');
const [, example = ''] = /### Worked example\n(.*?)\n###? /s.exec(page) ?? [];
const texts = [...example.matchAll(/```text\n(.*)\n```/g)].map(([, text = '']) => text);
const hashes = [...example.matchAll(/```\n([0-9a-f]{64})\n```/g)].map(([, hash = '']) => hash);

test("the documentation's worked example holds", () => {
  const [origin = '', ...entries] = texts;
  expect([entries.length, hashes.length]).toEqual([2, 3]);
  expect(genesisHash(JSON.parse(origin))).toBe(hashes[0]);
  for (const [index, text] of entries.entries()) {
    const entry = JSON.parse(text) as HashedEntry;
    expect(entryText(entry)).toBe(text);
    expect(entry.prevHash).toBe(hashes[index]);
    expect(hashOf(entry)).toBe(hashes[index + 1]);
  }
});
