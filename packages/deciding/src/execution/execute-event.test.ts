import type { JsonObject } from '@orrery/contracts';
import { describe, expect, test } from 'vitest';
import { stateChangesOf } from '../entries/entry.js';
import { decideExecution } from './execute-event.js';
import type { Decision } from './execution.js';
import { emptyView, executionOf, viewOf } from './execution.test-support.js';

type Parts = Parameters<typeof executionOf>[0];
type States = Parameters<typeof viewOf>[0];

const decide = (parts: Parts, input: JsonObject = {}, states: States = {}): Decision =>
  decideExecution(executionOf(parts, input), viewOf(states));
/** What it did, or why not. */
function outcome(parts: Parts, input: JsonObject = {}, states: States = {}): unknown {
  const decision = decide(parts, input, states);
  if (decision.kind === 'needs') return 'needs';
  return decision.kind === 'succeeded'
    ? stateChangesOf(decision.changes)
    : `${decision.kind} ${decision.error.code}`;
}

const WINS = { horse: { wins: ['integer', { defaultValue: 0, constraints: { min: 0, max: 10 } }] } } as const;
const win = { 'horse:{{input.id}}': { wins: { $increment: 1 } } };
const schemas = { horse: { wins: [...WINS.horse.wins] } } as unknown as NonNullable<Parts['schemas']>;

/** The rule of docs/schemas.md, "Numbers", for executions; `manual-write.test.ts` has it for manual writes. */
test.each([
  ['float', 1e300, { x: 2e300 }],
  ['float', 1e16, { x: 2e16 }],
  ['json', 2 ** 53, { x: 2 ** 54 }],
  ['integer', 2 ** 51, { x: 2 ** 52 }],
  ['integer', 2 ** 52, 'failed invalid_state'],
] as const)('the number of a %s: twice %d', (type, n, expected) => {
  const numbers = { horse: { x: type } };
  const doubled = { 'horse:H1': { x: '{{ input.n + input.n }}' } };
  const incremented = { 'horse:H1': { x: { $increment: '{{ input.n }}' } } };
  const changed = typeof expected === 'string' ? expected : { 'horse:H1': expected };
  expect(outcome({ schemas: numbers, template: doubled }, { n })).toEqual(changed);
  expect(outcome({ schemas: numbers, template: incremented }, { n }, { horse: { H1: { x: n } } })).toEqual(
    changed,
  );
});

test('names of instances and attributes are compared in NFC', () => {
  const [composed, decomposed] = ['Zo\u00eb', 'Zoe\u0308'];
  const parts = {
    schemas: { horse: { [composed]: 'integer' } },
    readEntities: [{ schema: 'horse', filter: ['id'] }],
    template: {
      'horse:{{input.id}}': { [decomposed]: `{{ entities.horse[input.id]["${decomposed}"] + 1 }}` },
    },
  } satisfies Parts;
  const states = { horse: { [composed]: { [composed]: 1 } } };
  expect(outcome(parts, { id: decomposed }, states)).toEqual({ [`horse:${composed}`]: { [composed]: 2 } });
});

test.each(['__proto__', 'constructor', 'prototype'])('no instance is called %s', (id) => {
  expect(outcome({ schemas, template: win }, { id })).toBe('failed invalid_change_key');
});

test.each([
  ['attributes', (i: number) => [`k${i}`, i]],
  ['values', (i: number) => [`k${i % 10}`, Array.from({ length: 1_000 }, () => i)]],
] as const)('refuses to change instances that hold too many %s', (_what, entry) => {
  const state = Object.fromEntries(Array.from({ length: 4_000 }, (_none, i) => entry(i))) as JsonObject;
  const ids = Array.from({ length: 60 }, (_none, i) => `H${i}`);
  const changing = (count: number) =>
    Object.fromEntries(ids.slice(0, count).map((id) => [`horse:${id}`, { n: 1 }]));
  const states = { horse: Object.fromEntries(ids.map((id) => [id, state])) };
  expect(decide({ template: changing(8) }, {}, states).kind).toBe('succeeded');
  expect(outcome({ template: changing(60) }, {}, states)).toBe('failed change_too_large');
});

describe('one execution', () => {
  test('reads, decides, applies and checks', () => {
    const decision = decide(
      {
        schemas,
        readEntities: [{ schema: 'horse', filter: ['id'] }],
        template: {
          stateChanges: { 'horse:{{input.id}}': { wins: '{{ entities.horse[input.id].wins + 1 }}' } },
          result: { winner: '{{input.id}}', at: '{{date}}' },
        },
      },
      { id: 'H1' },
      { horse: { H1: { wins: 3 } } },
    );
    expect(decision).toMatchObject({
      kind: 'succeeded',
      changes: [{ entitySchema: 'horse', instanceId: 'H1', op: 'update', set: { wins: 4 }, revision: 2 }],
      result: { winner: 'H1', at: '2026-11-21' },
      reads: [{ entitySchema: 'horse', instanceId: 'H1', revision: 1 }],
    });
  });

  test('creates what does not exist, with defaults, at revision 1', () => {
    const decision = decide({ schemas, template: win }, { id: 'NEW' });
    expect(decision).toMatchObject({
      changes: [{ op: 'create', set: { wins: 1 }, unset: [], revision: 1, state: { wins: 1 } }],
    });
  });

  test('refuses to grow beyond the instance limit, and still lets a deployment over it shrink or change', () => {
    const at = (now: number, template: JsonObject) =>
      decideExecution(
        { ...executionOf({ template }), instanceCount: { before: now, limit: 2 } },
        viewOf({ horse: { H1: {} } }),
      );
    expect(at(1, { 'horse:H2': {} })).toMatchObject({ kind: 'succeeded' });
    expect(at(2, { 'horse:H2': {} })).toMatchObject({ kind: 'failed', error: { code: 'limit_reached' } });
    expect(at(2, { 'horse:H1': { $delete: true }, 'horse:H2': {} })).toMatchObject({ kind: 'succeeded' });
    expect(at(5, { 'horse:H1': { $delete: true } })).toMatchObject({ kind: 'succeeded' });
    expect(at(5, { 'horse:H1': { name: 'x' } })).toMatchObject({ kind: 'succeeded' });
  });

  test('fails a template whose value is nested too deeply to be read again', () => {
    const template = { stateChanges: {}, result: { made: '{{input.list}}' } };
    const nested = (depth: number) =>
      JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as JsonObject[string];
    expect(outcome({ template }, { list: nested(10) })).toEqual({});
    expect(outcome({ template }, { list: nested(200) })).toBe('failed template_failed');
  });

  test('deletes with $delete what is there', () => {
    const template = { 'horse:H1': { $delete: true } };
    expect(outcome({ template }, {}, { horse: { H1: {} } })).toEqual({ 'horse:H1': null });
    expect(outcome({ template })).toBe('failed change_not_allowed');
  });

  test('fills in the defaults of an instance that it touches', () => {
    const states = { horse: { H1: { name: 'Bolt' } } };
    const template = { 'horse:H1': { name: 'Dash' } };
    expect(outcome({ schemas, template }, {}, states)).toEqual({ 'horse:H1': { name: 'Dash', wins: 0 } });
  });

  test('shows what it named even where it stays as it was, and nothing where it spoke of nothing', () => {
    const states = { horse: { H1: { wins: 2, name: 'Bolt' }, H2: { wins: 0 } } };
    const template = { 'horse:H1': { wins: 2 }, 'horse:H2': {} };
    expect(outcome({ schemas, template }, {}, states)).toEqual({ 'horse:H1': { wins: 2 } });
  });

  test('an operator has the last word on its attribute, in full mode too', () => {
    const template = { 'horse:H1': { name: 'Dash', wins: { $increment: 2 } } };
    const states = { horse: { H1: { wins: 3, old: 1 } } };
    expect(outcome({ schemas, template, stateChanges: { horse: 'full' } }, {}, states)).toEqual({
      'horse:H1': { name: 'Dash', wins: 5, old: null },
    });
  });

  test('keys split at the first colon', () => {
    expect(outcome({ template: { 'horse:a:b': { x: 1 } } })).toEqual({ 'horse:a:b': { x: 1 } });
  });

  test('data does not become an operator', () => {
    const template = { 'horse:H1': { note: '{{input.note}}' } };
    const states = { horse: { H1: { note: 1 } } };
    expect(outcome({ template }, { note: { $unset: true } }, states)).toEqual({
      'horse:H1': { note: { $unset: true } },
    });
  });

  test('what was read and is absent is known as revision 0', () => {
    const decision = decide(
      { readEntities: [{ schema: 'horse', filter: ['id'] }], template: {} },
      { id: 'NONE' },
    );
    expect(decision).toMatchObject({ reads: [{ instanceId: 'NONE', revision: 0 }] });
  });
});

describe('what is not in memory is asked for, and nothing is decided', () => {
  const run = (parts: Parts, input: JsonObject = {}) => decideExecution(executionOf(parts, input), emptyView);
  test('instances and schemas that are read', () => {
    const readEntities = [{ schema: 'horse', filter: ['id'] }, { schema: 'race' }];
    expect(run({ schemas: { horse: {}, race: {} }, readEntities, template: {} }, { id: 'H1' })).toEqual({
      kind: 'needs',
      instances: [{ entitySchema: 'horse', instanceId: 'H1' }],
      schemas: ['race'],
    });
  });
  test('instances that are changed', () => {
    expect(run({ template: win }, { id: 'H1' })).toEqual({
      kind: 'needs',
      instances: [{ entitySchema: 'horse', instanceId: 'H1' }],
      schemas: [],
    });
  });
});

describe('refused before anything is read', () => {
  const byId = [{ schema: 'horse', filter: ['id'] }];
  test.each<[string, Parts, JsonObject, string]>([
    ['nothing to run', {}, {}, 'mutation_missing'],
    [
      'an input that breaks its contract',
      { inputSchema: { id: 'string' }, template: win },
      {},
      'invalid_input',
    ],
    ['an input above 64 KiB', { template: {} }, { x: 'x'.repeat(65_530) }, 'invalid_input'],
    ['an input that is not declared', { inputSchema: {}, template: {} }, { x: 1 }, 'invalid_input'],
    [
      'an object where an instance is named',
      { readEntities: byId, template: {} },
      { id: {} },
      'invalid_input',
    ],
  ])('%s', (_what, parts, input, code) => {
    expect(outcome(parts, input)).toBe(`refused ${code}`);
  });
});

describe('failed from read on', () => {
  const horses = Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`H${n}`, {}]));
  const H1 = { horse: { H1: { wins: 9, name: 'Bolt' } } };
  test.each<[string, Parts, JsonObject, States, string]>([
    [
      '501 instances without a filter',
      { readEntities: [{ schema: 'horse' }], template: {} },
      {},
      { horse: horses },
      'read_set_too_large',
    ],
    [
      '501 instances by filter',
      { readEntities: [{ schema: 'horse', filter: ['ids'] }], template: {} },
      { ids: Object.keys(horses) },
      {},
      'read_set_too_large',
    ],
    ['a missing key', { template: { 'horse:H1': { x: '{{input.none}}' } } }, {}, {}, 'template_failed'],
    [
      'a sum beyond the finite numbers',
      { template: { 'horse:H1': { x: '{{input.n + input.n}}' } } },
      { n: 1e308 },
      {},
      'template_failed',
    ],
    [
      'a polluting key',
      { template: { 'horse:H1': { x: { '{{input.key}}': 1 } } } },
      { key: '__proto__' },
      {},
      'template_failed',
    ],
    [
      'a value that is no change',
      { template: { 'horse:H1': '{{input.x}}' } },
      { x: 1 },
      {},
      'template_failed',
    ],
    [
      '$increment of a text',
      { template: { 'horse:H1': { name: { $increment: 1 } } } },
      {},
      H1,
      'operator_type_mismatch',
    ],
    [
      '$append to a number',
      { template: { 'horse:H1': { wins: { $append: 1 } } } },
      {},
      H1,
      'operator_type_mismatch',
    ],
    ['a key without a colon', { template: { horse: { x: 1 } } }, {}, {}, 'invalid_change_key'],
    [
      'an instance that no path can name',
      { template: { 'horse:..': { x: 1 } } },
      {},
      {},
      'invalid_change_key',
    ],
    [
      'a name that no instance can have',
      { template: { 'horse:{{input.id}}': {} } },
      { id: ' ' },
      {},
      'invalid_change_key',
    ],
    [
      'two keys for one instance',
      { template: { 'horse:\u00e9': {}, 'horse:e\u0301': {} } },
      {},
      {},
      'invalid_change_key',
    ],
    [
      'a schema that is not in the map',
      { schemas: { horse: {}, race: {} }, stateChanges: { race: 'full' }, template: win },
      { id: 'H1' },
      H1,
      'change_not_allowed',
    ],
    ['a schema that there is not', { template: { 'car:C1': { x: 1 } } }, {}, {}, 'change_not_allowed'],
    [
      'a schema named like a property of objects',
      { template: { 'toString:C1': { x: 1 } } },
      {},
      {},
      'change_not_allowed',
    ],
    ['guards', { guards: { maxInstances: 0 }, template: win }, { id: 'H1' }, H1, 'change_not_allowed'],
    [
      '501 changes',
      { template: { stateChanges: '{{input.changes}}' } },
      { changes: Object.fromEntries(Object.keys(horses).map((id) => [`horse:${id}`, { x: 1 }])) },
      {},
      'change_too_large',
    ],
    [
      'an entry above 256 KiB',
      {
        template: {
          stateChanges: Object.fromEntries(
            Array.from({ length: 5 }, (_, n) => [`horse:${n}`, { x: '{{input.x}}' }]),
          ),
        },
      },
      { x: 'x'.repeat(50_000) },
      {},
      'change_too_large',
    ],
    ['a constraint', { schemas, template: { 'horse:H1': { wins: 11 } } }, {}, H1, 'invalid_state'],
    [
      'a state above 64 KiB',
      { template: { 'horse:H1': { x: '{{input.x}}{{input.x}}' } } },
      { x: 'x'.repeat(40_000) },
      {},
      'invalid_state',
    ],
    [
      'a result against its contract',
      { outputSchema: { n: 'integer' }, template: { result: { n: 'x' } } },
      {},
      {},
      'invalid_result',
    ],
    ['a result that is missing', { outputSchema: { n: 'integer' }, template: {} }, {}, {}, 'invalid_result'],
  ])('%s', (_what, parts, input, states, code) => {
    expect(outcome(parts, input, states)).toBe(`failed ${code}`);
  });

  test('an author says why an execution is refused', () => {
    const placeholder = '{{ input.n > 1 ? input.n : fail("At least two are needed.") }}';
    const decision = decide({ template: { 'horse:H1': { x: placeholder } } }, { n: 1 });
    expect(decision).toMatchObject({
      error: {
        code: 'template_failed',
        message: 'At least two are needed.',
        facts: { reason: 'At least two are needed.' },
      },
    });
  });

  test('invalid_state tells instance and attribute', () => {
    const decision = decide({ schemas, template: { 'horse:H1': { wins: 11 } } }, {}, H1);
    expect(decision).toMatchObject({
      error: { errors: [{ pointer: '/horse:H1/wins', code: 'out_of_range' }] },
    });
  });
});
