import { expect, it } from 'vitest';
import { changedInstances } from './changes.js';

it('sets what an execution changes beside what was there', () => {
  const before = new Map([
    ['horse:H1', { wins: 3, speed: 0.1, name: 'Ada', lame: true, age: 3 }],
    ['horse:H2', null],
    ['bet:a:b', { stake: 5 }],
  ]);
  const changes = {
    'horse:H1': { wins: 4, speed: 0.3, name: 'Bea', lame: null, age: 3 },
    'horse:H2': { wins: 0 },
    'bet:a:b': null,
    'horse:H3': { wins: 7 },
  };
  expect(changedInstances(changes, before)).toEqual([
    {
      key: 'horse:H1',
      entitySchema: 'horse',
      instanceId: 'H1',
      op: 'update',
      rows: [
        { attribute: 'wins', before: 3, after: 4, isChanged: true, delta: 1 },
        { attribute: 'speed', before: 0.1, after: 0.3, isChanged: true, delta: 0.2 },
        { attribute: 'name', before: 'Ada', after: 'Bea', isChanged: true },
        { attribute: 'lame', before: true, after: null, isChanged: true },
        { attribute: 'age', before: 3, after: 3, isChanged: false },
      ],
    },
    {
      key: 'horse:H2',
      entitySchema: 'horse',
      instanceId: 'H2',
      op: 'create',
      rows: [{ attribute: 'wins', before: undefined, after: 0, isChanged: true }],
    },
    {
      key: 'bet:a:b',
      entitySchema: 'bet',
      instanceId: 'a:b',
      op: 'delete',
      rows: [{ attribute: 'stake', before: 5, after: undefined, isChanged: true }],
    },
    {
      key: 'horse:H3',
      entitySchema: 'horse',
      instanceId: 'H3',
      op: 'update',
      rows: [{ attribute: 'wins', before: undefined, after: 7, isChanged: true }],
    },
  ]);
});
