import type { HashedEntry } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { foldInstances } from './folded-instances.js';

const entryOf = (seq: number, changes: object[], more: object = {}) =>
  ({
    seq,
    kind: 'execution',
    event: 'race',
    changes,
    input: {},
    result: null,
    error: null,
    ...more,
  }) as never as HashedEntry;
const change = (op: string, instanceId: string, n = 0, revision = 1) => ({
  ...{ entitySchema: 'horse', instanceId, op, revision, unset: [] },
  set: op === 'delete' ? {} : { n },
});

it('has the instances in the order of their creation, at their revisions', () => {
  const instances = foldInstances([
    { entitySchema: 'horse', instanceId: 'B', state: { n: 1 } },
    { entitySchema: 'horse', instanceId: 'A', state: { n: 2 } },
  ]);
  instances.follow(entryOf(1, [change('update', 'B', 5, 2), change('create', 'C')]));
  expect([...(instances.all('horse')?.keys() ?? [])]).toEqual(['B', 'A', 'C']);
  expect(instances.get('horse', 'B')).toEqual({ state: { n: 5 }, revision: 2 });
  instances.follow(entryOf(2, [change('delete', 'B', 0, 3)]));
  expect(instances.get('horse', 'B')).toBeNull();
  instances.follow(entryOf(3, [change('create', 'B')]));
  expect([...(instances.all('horse')?.keys() ?? [])]).toEqual(['A', 'C', 'B']);
  expect([instances.tooMany('horse', 2), instances.tooMany('horse', 3)]).toEqual([true, false]);
  expect(() => instances.follow(entryOf(4, [change('create', 'B')]))).toThrow(RangeError);
});

it('remembers the last executions, newest first, and no further back than one may', () => {
  const { follow, recent } = foldInstances([]);
  follow(entryOf(1, [], { event: 'old' }));
  follow(entryOf(2, [change('create', 'A')]));
  follow(entryOf(3, [], { kind: 'paused', event: null }));
  const seqs = (search: object) => recent.find({ last: 5, ...search })?.map(({ seq }) => seq);
  expect(seqs({})).toEqual([2, 1]);
  expect(seqs({ events: ['old'] })).toEqual([1]);
  expect(seqs({ instances: ['horse:A'] })).toEqual([2]);
  for (let seq = 4; seq <= 10_001; seq += 1) follow(entryOf(seq, [], { kind: 'paused' }));
  expect(seqs({})).toEqual([2]);
});
