import { expect, it } from 'vitest';
import { agoOf, hueOf, hueOfText, priceText, shortened, valueText } from './parts.js';

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

it('has a colour for each address', () => {
  expect(hueOf(`0x0000ff${'0'.repeat(34)}`)).toBe(255);
  expect(hueOf('7')).toBe(0);
  expect(hueOfText('abc')).not.toBe(hueOfText('abd'));
});

it('shows prices with the digits that they have, and addresses by their ends', () => {
  expect([priceText(0.05), priceText(2), priceText(0.0005)]).toEqual(['$0.05', '$2.00', '$0.0005']);
  expect([shortened('short'), shortened(`0x${'a'.repeat(40)}`)]).toEqual(['short', '0xaaaa…aaaa']);
});
