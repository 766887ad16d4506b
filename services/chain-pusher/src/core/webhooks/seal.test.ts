import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSeal } from './seal.js';

const [one, two] = [randomBytes(32), randomBytes(32)];

it('opens what it has closed, for its owner alone', () => {
  const seal = createSeal([one]);
  const sealed = seal.close('whsec_x', 'webhook 1');
  expect(sealed).not.toContain('whsec_x');
  expect(sealed.startsWith(seal.current)).toBe(true);
  expect(seal.open(sealed, 'webhook 1')).toBe('whsec_x');
  expect(seal.open(sealed, 'webhook 2')).toBeUndefined();
  expect(seal.close('whsec_x', 'webhook 1')).not.toBe(sealed);
});

it('goes on with a new key beside the old one, and not without it', () => {
  const sealed = createSeal([one]).close('whsec_x', 'webhook 1');
  const both = createSeal([two, one]);
  expect(both.open(sealed, 'webhook 1')).toBe('whsec_x');
  expect(sealed.startsWith(both.current)).toBe(false);
  expect(createSeal([two]).open(sealed, 'webhook 1')).toBeUndefined();
});

it('opens nothing that was changed', () => {
  const seal = createSeal([one]);
  const sealed = seal.close('whsec_x', 'webhook 1');
  const at = seal.current.length;
  for (const text of [
    sealed.slice(0, -2),
    `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`,
    seal.current,
    'x',
    '',
  ])
    expect(seal.open(text, 'webhook 1')).toBeUndefined();
});
