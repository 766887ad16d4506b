import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../cpu-time.test-support.js';
import { closest, didYouMean } from './wording.js';

describe('closest', () => {
  it.each([
    ['wnis', ['wins', 'losses'], 'wins'],
    ['stamna', ['speed', 'stamina'], 'stamina'],
    ['horses', ['house', 'horse'], 'horse'],
    ['Horse', ['horse'], 'horse'],
    ['entitySchemas', ['instanceId', 'entitySchema'], 'entitySchema'],
    ['lap', ['laps'], 'laps'],
  ])('of %j among %j is %j', (name, candidates, meant) => {
    expect(closest(name, candidates)).toBe(meant);
  });

  it.each([
    ['speed', ['wins', 'stamina']],
    ['hp', ['xp', 'mp']],
    ['wins', ['win', 'wins']],
    ['lastFan', ['wins', 'speed', 'stamina']],
    ['', ['a']],
    ['x'.repeat(65), ['x'.repeat(64)]],
  ])('there is none of %j among %j', (name, candidates) => {
    expect(closest(name, candidates)).toBeUndefined();
  });

  it('is found whatever a typing error is', () => {
    const name = fc.stringMatching(/^[a-z]{5,20}$/);
    const error = fc.tuple(name, fc.nat(18), fc.constantFrom('left out', 'added', 'replaced', 'exchanged'));
    fc.assert(
      fc.property(error, ([meant, place, kind]) => {
        const at = place % (meant.length - 1);
        const [before, one = '', two = '', after] = [
          meant.slice(0, at),
          meant[at],
          meant[at + 1],
          meant.slice(at + 2),
        ];
        const typed = {
          'left out': `${before}${two}${after}`,
          added: `${before}${one}Z${two}${after}`,
          replaced: `${before}Z${two}${after}`,
          exchanged: `${before}${two}${one}${after}`,
        }[kind];
        expect(closest(typed, ['something-else', meant])).toBe(typed === meant ? undefined : meant);
      }),
    );
  });

  it('is found quickly among long names that differ little', () => {
    const names = Array.from(
      { length: 1000 },
      (_, index) => `${'horse-of-the-long-name-'.repeat(2)}${index}`,
    );
    const find = () => expect(closest(`${'horse-of-the-long-name-'.repeat(2)}_`, names)).toBe(names[0]);
    expect(cpuMs(find)).toBeLessThan(500);
  });
});

it('didYouMean follows a sentence with at most one name', () => {
  expect(didYouMean('hrose', ['horse', 'house'])).toBe(' Did you mean "horse"?');
  expect(didYouMean('cat', ['horse'])).toBe('');
});
