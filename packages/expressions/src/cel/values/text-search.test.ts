import { cpuMs } from '@orrery/contracts/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextSearch } from './texts.js';

/** Few letters, so that long texts repeat themselves. */
const letters = (minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom('a', 'b', '😀'), { minLength, maxLength }).map((units) => units.join(''));

it('finds what JavaScript finds, from any offset', () => {
  fc.assert(
    fc.property(letters(400, 700), letters(9, 24), fc.nat(700), fc.nat(700), (base, tail, from, cut) => {
      const text = base + tail;
      for (const searched of [tail, base.slice(cut, cut + 20), `${tail}c`]) {
        const search = new TextSearch(text, searched);
        expect(search.first(from)).toBe(text.indexOf(searched, from));
        expect(search.last(from)).toBe(text.lastIndexOf(searched, from));
      }
    }),
  );
});

describe('takes time linear in both texts', () => {
  const text = 'a'.repeat(262_144);
  it.each([
    ['ends otherwise', `${'a'.repeat(131_071)}b`],
    ['begins otherwise', `b${'a'.repeat(131_071)}`],
    ['differs in the middle', `${'a'.repeat(65_536)}b${'a'.repeat(65_535)}`],
  ])('where the text searched %s', (_, searched) => {
    const search = new TextSearch(text, searched);
    expect(cpuMs(() => [search.first(0), search.last(text.length)])).toBeLessThan(200);
  });
});
