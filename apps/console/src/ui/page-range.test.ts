import { expect, it } from 'vitest';
import { rangeOf } from './page-range.js';

const counted = { limit: 50, total: 120, totalPages: 3 };
const beyond = { limit: 50, total: 10_000, totalPages: 200, totalIsMinimum: true as const };

it.each([
  ['the first page', { ...counted, page: 1 }, 50, { first: 1, last: 50, hasNext: true }],
  ['the last page', { ...counted, page: 3 }, 20, { first: 101, last: 120, hasNext: false }],
  ['where the count ends', { ...beyond, page: 200 }, 50, { first: 9951, last: 10_000, hasNext: true }],
  ['behind it', { ...beyond, page: 201 }, 50, { first: 10_001, last: 10_050, hasNext: true }],
  ['a last page behind it', { ...beyond, page: 202 }, 7, { first: 10_051, last: 10_057, hasNext: false }],
  ['the deepest page', { ...beyond, page: 2000 }, 50, { first: 99_951, last: 100_000, hasNext: false }],
])('%s', (_, pagination, rows, range) => {
  expect(rangeOf(pagination, rows)).toEqual(range);
});
