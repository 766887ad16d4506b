import type { Guards, JsonObject } from '@orrery/contracts';
import { describe, expect, test } from 'vitest';
import type { Proposal } from './apply-proposal.js';
import { checkGuards } from './check-changes.js';
import type { AppliedChange } from './execution.js';
import { compileSchema } from './execution.js';
import { schemaOf } from './execution.test-support.js';

const schema = compileSchema(schemaOf('horse', { stamina: ['integer', { defaultValue: 10 }] }));
const change = (before: JsonObject | null, after: JsonObject | null): AppliedChange => ({
  entitySchema: 'horse',
  instanceId: 'H1',
  schema,
  before: before && { state: before, revision: 1 },
  after,
  named: new Set(),
});
const check = (guards: Guards, changes: AppliedChange[], from: Proposal['from'] = 'template') =>
  checkGuards(guards, from, changes);
const refused = (reason: string) =>
  expect.objectContaining({ code: 'change_not_allowed', facts: expect.objectContaining({ reason }) });

describe('deleting', () => {
  const deletion = [change({}, null)];
  test('a template may unless it is forbidden', () => {
    expect(() => check({}, deletion)).not.toThrow();
    expect(() => check({ delete: false }, deletion)).toThrow(refused('delete'));
  });
  test('a model may only where it is allowed', () => {
    expect(() => check({}, deletion, 'model')).toThrow(refused('delete'));
    expect(() => check({ delete: true }, deletion, 'model')).not.toThrow();
  });
});

test('creating is allowed unless it is forbidden', () => {
  expect(() => check({}, [change(null, {})], 'model')).not.toThrow();
  expect(() => check({ create: false }, [change(null, {})])).toThrow(refused('create'));
  expect(() => check({ create: false }, [change(null, {})])).toThrow(
    /^There is no instance horse:H1, and this version may change existing instances only: its guards say "create": false\./,
  );
});

test('maxInstances bounds how many are changed', () => {
  expect(() => check({ maxInstances: 1 }, [change({}, {})])).not.toThrow();
  expect(() => check({ maxInstances: 0 }, [change({}, {})])).toThrow(refused('maxInstances'));
});

test('a denied attribute stays as it was, and is only a default in a new instance', () => {
  const guards = { deny: ['owner'] };
  expect(() => check(guards, [change({ owner: 'a' }, { owner: 'a', x: 1 })])).not.toThrow();
  expect(() => check(guards, [change({ owner: 'a' }, { owner: 'b' })])).toThrow(refused('deny'));
  expect(() => check(guards, [change({ owner: 'a' }, {})])).toThrow(refused('deny'));
  expect(() => check({ deny: ['stamina'] }, [change(null, { stamina: 10 })])).not.toThrow();
  expect(() => check({ deny: ['stamina'] }, [change(null, { stamina: 99 })])).toThrow(refused('deny'));
});

test('maxDelta bounds how far a number goes, both ways, from its default where it was absent', () => {
  const guards = { maxDelta: { stamina: 5 } };
  expect(() => check(guards, [change({ stamina: 20 }, { stamina: 15 })])).not.toThrow();
  expect(() => check(guards, [change({ stamina: 20 }, { stamina: 14 })])).toThrow(refused('maxDelta'));
  expect(() => check(guards, [change({ stamina: 20 }, { stamina: 26 })])).toThrow(refused('maxDelta'));
  expect(() => check(guards, [change({}, { stamina: 15 })])).not.toThrow();
  expect(() => check(guards, [change({ stamina: 20 }, {})])).toThrow(refused('maxDelta'));
  expect(() => check(guards, [change({ stamina: 5 }, {})])).not.toThrow();
  expect(() => check(guards, [change(null, { stamina: 99 })])).not.toThrow();
});
