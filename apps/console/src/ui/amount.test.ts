import { expect, it } from 'vitest';
import { formatAmount, formatUsd } from './typed-text.js';

it.each([
  ['50000', 6, '0.05'],
  ['1', 6, '0.000001'],
  ['1000000', 6, '1'],
  ['1500000', 6, '1.50'],
  ['0', 6, '0'],
  ['7', 0, '7'],
  ['123456789012345678901234567', 18, '123\u202f456\u202f789.012345678901234567'],
])('formats %s with %i decimals as %s', (amount, decimals, text) => {
  expect(formatAmount(amount, decimals)).toBe(text);
});

it.each([
  [0, '$0'],
  [12.5, '$12.50'],
  [1234.567, '$1,234.57'],
  [0.01, '$0.01'],
  [0.000_42, '$0.00042'],
  [1e-15, '$0.000000000000'],
])('formats %d dollars as %s', (usd, text) => {
  expect(formatUsd(usd)).toBe(text);
});
