import type { JsonValue } from '@orrery/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileTemplate } from '../templates/compile-template.js';
import { isDeletion, readOperator, resolveOperator } from './mutation.js';

function resolve(current: JsonValue | undefined, value: JsonValue) {
  const operator = readOperator(value);
  return operator === undefined ? 'no operator' : resolveOperator(current, operator);
}

function problemsIn(template: JsonValue) {
  const compiled = compileTemplate(template, { names: ['input'], mutation: true });
  return compiled.ok ? [] : compiled.problems;
}

const set = (value: JsonValue) => ({ ok: true, kind: 'set', value });
const mismatch = { ok: false, code: 'operator_type_mismatch', message: expect.any(String) };

describe('what operators make', () => {
  it.each<[JsonValue | undefined, JsonValue, object]>([
    [1, { $set: { $any: [1] } }, set({ $any: [1] })],
    [3, { $increment: 2 }, set(5)],
    [3, { $increment: -0.5 }, set(2.5)],
    [3, { $increment: null }, set(4)],
    [3, { $increment: true }, set(4)],
    [undefined, { $increment: 1 }, set(1)],
    [null, { $increment: 1 }, set(1)],
    ['3', { $increment: 1 }, mismatch],
    [3, { $increment: '1' }, mismatch],
    [2 ** 53, { $increment: 2 }, set(2 ** 53 + 2)],
    [1e300, { $increment: 1e300 }, set(2e300)],
    [1e308, { $increment: 1e308 }, mismatch],
    [[1], { $append: 2 }, set([1, 2])],
    [[1], { $append: [2, 3] }, set([1, 2, 3])],
    [undefined, { $append: { a: 1 } }, set([{ a: 1 }])],
    [5, { $append: 1 }, mismatch],
    [{ a: 1, b: 2 }, { $merge: { b: 3, c: null } }, set({ a: 1, b: 3, c: null })],
    [undefined, { $merge: { a: 1 } }, set({ a: 1 })],
    [[1], { $merge: { a: 1 } }, mismatch],
    [{ a: 1 }, { $merge: [1] }, mismatch],
    ['x', { $unset: true }, { ok: true, kind: 'unset' }],
    ['x', { $unset: false }, mismatch],
  ])('%j with %j', (current, operator, outcome) => {
    expect(resolve(current, operator)).toEqual(outcome);
  });

  it('never changes the current value', () => {
    const current = [{ a: 1 }];
    resolve(current, { $append: 2 });
    expect(current).toEqual([{ a: 1 }]);
  });

  it('increments add up in any order, and never leave the safe numbers', () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.integer(), { maxLength: 10 }), (start, steps) => {
        const outcome = steps.reduce<JsonValue>((sum, by) => {
          const next = resolveOperator(sum, { name: '$increment', operand: by });
          return next.ok && next.kind === 'set' ? next.value : Number.NaN;
        }, start);
        expect(outcome).toBe(steps.reduce((sum, by) => sum + by, start));
      }),
    );
  });

  it('never throws on any JSON', () => {
    const json = fc.jsonValue() as fc.Arbitrary<JsonValue>;
    const name = fc.constantFrom('$set', '$merge', '$increment', '$append', '$unset');
    fc.assert(
      fc.property(json, name, json, (current, key, operand) => {
        expect(resolve(current, { [key]: operand })).toHaveProperty('ok');
      }),
    );
  });
});

it.each<JsonValue>([1, 'x', null, [], {}, { a: 1 }, { $set: 1, $merge: {} }, { $foo: 1 }, [{ $set: 1 }]])(
  '%j is no operator',
  (value) => {
    expect(readOperator(value)).toBeUndefined();
  },
);

it('a deletion stands alone and is true', () => {
  expect(isDeletion({ $delete: true })).toBe(true);
  expect(isDeletion({ $delete: false })).toBe(false);
  expect(isDeletion({ $delete: true, a: 1 })).toBe(false);
});

describe('operators in a template', () => {
  it.each<[string, JsonValue]>([
    ['known', { 'h:1': { a: { $increment: 1 }, b: { $set: { $ref: 1 } }, c: { $unset: true } } }],
    ['deletion', { stateChanges: { 'h:1': { $delete: true } }, result: { $anything: 1 } }],
    ['plain', { 'h:1': { a: { b: [{ c: 1 }] } } }],
    ['templated', { 'h:{{ input.a }}': { a: { $append: '{{ input.b }}' } } }],
  ])('%s are fine', (_, template) => {
    expect(problemsIn(template)).toEqual([]);
  });

  it.each([
    ['$inc', 'The operator "$inc" is not known. Write "$increment".'],
    [
      '$decrement',
      'The operator "$decrement" is not known. Write { "$increment": -1 }: a negative number takes',
    ],
    ['$push', 'The operator "$push" is not known. Write "$append".'],
    ['$foo', 'The operator "$foo" is not known. Operators are $set, $merge, $increment, $append, $unset.'],
  ])('%s is told with the operator that is meant', (operator, message) => {
    const [problem] = problemsIn({ 'h:1': { a: { [operator]: 1 } } });
    expect(problem?.message).toContain(message);
  });

  it.each<[string, JsonValue, string]>([
    ['unknown', { 'h:1': { a: { $inc: 1 } } }, '/h:1/a/$inc'],
    ['mixed', { 'h:1': { a: { $increment: 1, foo: 2 } } }, '/h:1/a/$increment'],
    ['below an attribute', { 'h:1': { a: { b: { $increment: 1 } } } }, '/h:1/a/b/$increment'],
    ['in a list', { 'h:1': { a: [{ $increment: 1 }] } }, '/h:1/a/0/$increment'],
    ['in an operand', { 'h:1': { a: { $merge: { b: { $increment: 1 } } } } }, '/h:1/a/$merge/b/$increment'],
    ['as a change', { stateChanges: { 'h:1': { $set: {} } } }, '/stateChanges/h:1/$set'],
    ['a deletion with more', { 'h:1': { $delete: true, a: 1 } }, '/h:1/$delete'],
    ['a deletion by template', { 'h:1': { $delete: '{{ input.a }}' } }, '/h:1/$delete'],
    ['a doubtful unset', { 'h:1': { a: { $unset: 1 } } }, '/h:1/a/$unset'],
  ])('%s are found', (_, template, pointer) => {
    expect(problemsIn(template)).toMatchObject([{ pointer, code: 'unknown_operator' }]);
  });
});
