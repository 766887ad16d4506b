import type { JsonObject } from '@orrery/contracts';
import type { CheckedChange } from '@orrery/deciding';
import { expect, it } from 'vitest';
import type { DeploymentState } from '../state/deployment-state.js';
import { newBatch } from './batch.js';
import { stageBuiltValues, stageIndexedValues } from './stage-indexes.js';

const indexes = [
  { id: 1, entitySchema: 'horse', attribute: 'wins' },
  { id: 2, entitySchema: 'horse', attribute: 'name' },
  { id: 3, entitySchema: 'rider', attribute: 'wins' },
];
const change = (
  op: CheckedChange['op'],
  state: JsonObject | null,
  set: JsonObject = {},
  unset: string[] = [],
) => ({ entitySchema: 'horse', instanceId: 'H', op, set, unset, revision: 1, state }) as CheckedChange;

const staged = (...changes: CheckedChange[]) => {
  const batch = newBatch();
  const rows = changes.map((one) =>
    stageIndexedValues(batch, { indexes } as unknown as DeploymentState, one),
  );
  return [rows, [...batch.indexed.values()].map(({ indexId, value }) => [indexId, value])];
};

it('writes to the indexes of attributes that change, and to all of an instance that appears or goes', () => {
  expect(staged(change('update', { wins: 2, name: 'a' }, { wins: 2 }))).toEqual([[1], [[1, 2]]]);
  expect(staged(change('update', { wins: 2 }, {}, ['name']))).toEqual([[1], [[2, null]]]);
  expect(staged(change('update', { wins: 2, age: 3 }, { age: 3 }))).toEqual([[0], []]);
  expect(staged(change('create', { name: 'b' }))).toEqual([
    [2],
    [
      [1, null],
      [2, 'b'],
    ],
  ]);
  expect(staged(change('delete', null))).toEqual([
    [2],
    [
      [1, undefined],
      [2, undefined],
    ],
  ]);
});

it('leaves the last value of a batch, in which an index is built as well', () => {
  expect(staged(change('delete', null), change('create', { wins: 1, name: 'c' }))[1]).toEqual([
    [1, 1],
    [2, 'c'],
  ]);
  const batch = newBatch();
  const values = [{ instanceId: 'H', value: 5 }];
  expect(stageBuiltValues(batch, { indexId: 1, values, builtTo: 9, isComplete: false })).toBe(2);
  expect([...batch.built.values()]).toEqual([{ id: 1, built_to: 9, state: 'building' }]);
  stageIndexedValues(
    batch,
    { indexes } as unknown as DeploymentState,
    change('update', { wins: 6 }, { wins: 6 }),
  );
  expect([...batch.indexed.values()]).toEqual([{ indexId: 1, instanceId: 'H', value: 6 }]);
});
