import { expect, it } from 'vitest';
import {
  agoOf,
  amountText,
  hueOf,
  hueOfText,
  priceText,
  shortened,
  valueText,
  wholeValueText,
} from './parts.js';

it('tells how long ago something was', () => {
  const now = Date.UTC(2026, 0, 31);
  const ago = (seconds: number) => agoOf(now - seconds * 1000, now);
  expect([ago(-5), ago(3), ago(75), ago(7200), ago(86_400)]).toEqual([
    'just now',
    'just now',
    '1 minute ago',
    '2 hours ago',
    'yesterday',
  ]);
  expect(ago(40 * 86_400)).toBe('2025-12-22');
});

it('shows values in one line of bounded length', () => {
  expect([
    valueText(undefined),
    valueText(1.23456),
    valueText(1e6),
    valueText(null),
    valueText([1, 'a']),
  ]).toEqual(['', '1.2346', '1,000,000', 'null', '[1,"a"]']);
  expect(valueText('x'.repeat(5000))).toHaveLength(161);
});

it('shows all digits of a number where there is room, and never a sign before nothing', () => {
  expect([valueText(-0.00001), valueText(-0), valueText(-1.5)]).toEqual(['0', '0', '-1.5']);
  const numbers = [0.00004, -0.00001, -0, 1_234_567.891, 1e-12];
  expect(numbers.map(wholeValueText)).toEqual(['0.00004', '-0.00001', '0', '1234567.891', '1e-12']);
  expect(wholeValueText('x')).toBe('x');
});

it('shows an amount of an asset by its decimals, and in units where nobody has told them', () => {
  expect([
    amountText('50000', 6),
    amountText('12345678', 6),
    amountText('1000000000000000000', 18),
    amountText('7', 0),
    amountText('50000', undefined),
  ]).toEqual(['0.05', '12.345678', '1.00', '7', '50000 units']);
});

it('has a colour for each address', () => {
  expect(hueOf(`0x0000ff${'0'.repeat(34)}`)).toBe(255);
  expect(hueOf('7')).toBe(0);
  expect(hueOfText('abc')).not.toBe(hueOfText('abd'));
});

it('shows prices with the digits that they have, and addresses by their ends', () => {
  expect([priceText(0.05), priceText(2), priceText(0.0005)]).toEqual(['$0.05', '$2.00', '$0.0005']);
  expect([shortened('short'), shortened(`0x${'a'.repeat(40)}`)]).toEqual(['short', '0xaaaa…aaaa']);
});
