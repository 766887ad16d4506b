import { describe, expect, it } from 'vitest';
import { createLastUses } from './access.js';

describe('last uses', () => {
  it('writes the latest use of each key once', async () => {
    const written: unknown[] = [];
    const uses = createLastUses(async (batch) => void written.push([...batch]));
    uses.note('a', 1);
    uses.note('b', 2);
    uses.note('a', 3);
    await uses.flush();
    await uses.flush();
    expect(written).toEqual([
      [
        ['a', 3],
        ['b', 2],
      ],
    ]);
  });

  it('keeps what could not be written, without undoing what came later', async () => {
    const written: unknown[] = [];
    let away = true;
    const uses = createLastUses(async (batch) => {
      if (away) {
        uses.note('a', 9);
        throw new Error('away');
      }
      written.push(...batch);
    });
    uses.note('a', 1);
    uses.note('b', 2);
    await expect(uses.flush()).rejects.toThrow('away');
    away = false;
    await uses.flush();
    expect(written).toEqual([
      ['a', 9],
      ['b', 2],
    ]);
  });
});
