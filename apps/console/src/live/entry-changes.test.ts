import { expect, it } from 'vitest';
import { applied, type InstanceChange } from './entry-panel.js';

const change = (parts: Partial<InstanceChange>): InstanceChange => ({
  entitySchema: 'horse',
  instanceId: 'a:b',
  op: 'update',
  set: {},
  unset: [],
  revision: 2,
  ...parts,
});

it('sets and removes attributes', () => {
  expect(applied({ wins: 1, rider: 'x', name: 'n' }, change({ set: { wins: 2 }, unset: ['rider'] }))).toEqual(
    { wins: 2, name: 'n' },
  );
  expect(applied({ wins: 1 }, change({ op: 'delete' }))).toBeNull();
});

it('a created instance was absent before', () => {
  expect(applied(null, change({ op: 'create', set: { wins: 0 } }))).toEqual({ wins: 0 });
});
