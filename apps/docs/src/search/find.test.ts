import { describe, expect, it } from 'vitest';
import { createFinder, excerpt } from './find.js';

const entries = [
  ['/docs/reference/worlds#worldsCreate', 'Worlds', 'Create a world', 'POST /api/worlds worldsCreate'],
  [
    '/docs/timers#keys',
    'Executions later',
    'Keys of timers',
    'A key has one pending timer: too_many_timers.',
  ],
  ['/docs/adr/0039', 'Timers are rows', 'Timers are rows', 'Why timers are rows.'],
].map(([url = '', page = '', heading = '', text = ''], id) => ({ id, url, page, heading, text }));
const find = createFinder(entries);
const found = (words: string) => find(words, 5).map(({ url }) => url);

describe('the search', () => {
  it('finds pages and operations by words, beginnings, parts of names and near misses', () => {
    expect(found('create wor')).toEqual(['/docs/reference/worlds#worldsCreate']);
    expect(found('worldsCreate')).toEqual(['/docs/reference/worlds#worldsCreate']);
    expect(found('pendng')).toEqual(['/docs/timers#keys']);
    expect(found('too_many_timers')).toEqual(['/docs/timers#keys']);
    expect(found('zebra')).toEqual([]);
  });

  it('puts what one does before why it is so', () => {
    expect(found('timer')[0]).toBe('/docs/timers#keys');
  });
});

describe('an excerpt', () => {
  it('is around the first word that was found', () => {
    const text = `${'a '.repeat(60)}needle ${'b '.repeat(100)}`;
    expect(excerpt(text, ['needle'])).toMatch(/^….{30,40}needle.*…$/);
    expect(excerpt('short', ['none'])).toBe('short');
  });
});
