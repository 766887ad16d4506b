import { describe, expect, it } from 'vitest';
import { fileNameOf } from './write-folder.js';

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
