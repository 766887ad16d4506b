import { describe, expect, it } from 'vitest';
import { fileNameOf, sortFiles } from './write-folder.js';

describe('the name of a file', () => {
  it('is that of its definition, as far as a file may have it', () => {
    expect(fileNameOf('race_result')).toBe('race_result');
    expect(fileNameOf('レース 1')).toBe('レース 1');
    expect(fileNameOf('a/b:c\\d%')).toBe('a%2Fb%3Ac%5Cd%25');
    expect(fileNameOf('.hidden')).toBe('%2Ehidden');
    expect(fileNameOf('..')).toBe('%2E%2E');
  });

  it('is no longer than file systems take, and another for another name', () => {
    const long = 'レ'.repeat(255);
    expect(Buffer.byteLength(fileNameOf(long))).toBeLessThan(200);
    expect(fileNameOf(long)).not.toBe(fileNameOf(`${long.slice(1)}x`));
    expect(fileNameOf('Horse', new Set(['horse']))).toMatch(/^Horse-[0-9a-f]{8}$/);
  });
});

it('removes a file that a written one may overwrite before that is written', () => {
  const files = [
    'world.json',
    'world.md',
    'README.md',
    'schemas/Horse.yaml',
    'schemas/dog.yaml',
    'events/a.txt',
  ];
  expect(sortFiles(files, ['world.json', 'schemas/horse.yaml', 'schemas/dog.yaml'])).toEqual({
    taken: ['world.json', 'schemas/Horse.yaml', 'schemas/dog.yaml'],
    respelt: ['schemas/Horse.yaml'],
    stale: [],
  });
  expect(sortFiles(files, ['world.yaml'])).toEqual({
    taken: ['world.json', 'schemas/Horse.yaml', 'schemas/dog.yaml'],
    respelt: [],
    stale: ['world.json', 'schemas/Horse.yaml', 'schemas/dog.yaml'],
  });
});
