import { expect, it } from 'vitest';
import type { Entry } from '../world/records.js';
import { plainText, quoteIn, sentenceOf } from './sentences.js';

const entry = (more: object): Entry =>
  ({
    seq: 1,
    kind: 'execution',
    event: 'race',
    status: 'succeeded',
    trigger: 'public',
    caller: 'wallet:So11111111111111111111111111111111111111112',
    changes: [],
    result: null,
    error: null,
    ...more,
  }) as unknown as Entry;
const change = (op: string, set: object, unset: string[] = []) => ({
  entitySchema: 'horse',
  instanceId: 'HORSE_1',
  op,
  set,
  unset,
});

it('tells who did what, what came of it and what was said', () => {
  const told = entry({
    result: { headline: 'HORSE_1 wins' },
    changes: [change('update', { wins: 1, stamina: 80 })],
  });
  expect(plainText(told)).toBe('So1111…1112 played race · “HORSE_1 wins” · HORSE_1: wins 1, stamina 80');
});

it('tells what came, went and lost an attribute', () => {
  const text = (op: string, set: object, unset?: string[]) =>
    plainText(entry({ changes: [change(op, set, unset)] }));
  expect(text('create', { wins: 0 })).toContain('HORSE_1 joins horse: wins 0');
  expect(text('create', {})).toMatch(/HORSE_1 joins horse$/);
  expect(text('delete', {})).toContain('HORSE_1 is gone');
  expect(text('update', {}, ['rider'])).toContain('HORSE_1, without rider');
  expect(text('update', { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 })).toContain('d 4 and 2 more');
});

it('tells why something failed, and who else does things', () => {
  const failed = entry({ status: 'failed', error: { code: 'x', detail: 'It is too tired.' } });
  expect(plainText(failed)).toBe('So1111…1112 tried race, in vain · It is too tired.');
  expect(plainText(entry({ trigger: 'timer' }))).toBe('A timer played race');
  expect(plainText(entry({ trigger: 'cron', caller: 'schedule:race' }))).toBe('The schedule played race');
  expect(
    plainText(entry({ kind: 'published', event: null, status: null, trigger: null, caller: 'account:1' })),
  ).toBe('The owner opened this world to everybody');
});

it('has a bounded length, whatever an entry holds', () => {
  const many = Array.from({ length: 500 }, () => change('update', { text: 'x'.repeat(10_000) }));
  const { effects, more } = sentenceOf(entry({ changes: many, result: 'y'.repeat(10_000) }));
  expect([effects.length, more]).toEqual([3, 497]);
  expect(plainText(entry({ changes: many, result: 'y'.repeat(10_000) })).length).toBeLessThan(2000);
});

it('quotes a text of the result, and no other value', () => {
  expect([quoteIn('x'), quoteIn({ n: 1, t: 'y' }), quoteIn({ n: 1 }), quoteIn(null), quoteIn(' ')]).toEqual([
    'x',
    'y',
    undefined,
    undefined,
    undefined,
  ]);
});
