import { expect, it } from 'vitest';
import { readLiveSearch, toggled } from './live-search.js';

it('reads what an address holds', () => {
  const search = {
    seq: 12,
    schema: 'horse',
    entries: 'failed',
    event: 'race',
    instance: 'horse:H2',
    plot: ['horse:H1'],
    of: 'wins',
    over: 'time',
  };
  expect(readLiveSearch(search)).toEqual({ ...search, of: ['wins'] });
});

it('leaves out what it cannot mean', () => {
  const search = {
    seq: 1.5,
    schema: '',
    entries: 'all',
    event: {},
    instance: 'no colon',
    plot: ['no colon', null],
    of: {},
    over: 'seq',
    x: 1,
  };
  expect(readLiveSearch(search)).toEqual({});
  expect(readLiveSearch({ seq: '0' })).toEqual({});
  expect(readLiveSearch({ seq: 'NaN', schema: 'x'.repeat(601) })).toEqual({});
});

it('tells that no attribute is drawn from none being chosen yet', () => {
  expect(readLiveSearch({ of: [] })).toEqual({ of: [] });
});

it('takes names of digits for names', () => {
  expect(readLiveSearch({ schema: 7, seq: '3', of: [1, 1] })).toEqual({ schema: '7', seq: 3, of: ['1'] });
});

it('adds a name and takes it away, and keeps the newest of too many', () => {
  expect(toggled(undefined, 'a')).toEqual(['a']);
  expect(toggled(['a', 'b'], 'a')).toEqual(['b']);
  expect(toggled(['a'], 'a')).toBeUndefined();
  expect(toggled(['1', '2', '3', '4', '5', '6'], '7')).toEqual(['2', '3', '4', '5', '6', '7']);
});
