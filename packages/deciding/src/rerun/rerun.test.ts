import { canonicalHash, EVALUATOR, type HashedEntry, type KeptDefinition } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { viewOf } from '../execution/execution.test-support.js';
import { timerIdOf } from '../execution/follow-ups.js';
import { agrees, compileKept, hashOfDefinition, isDefinitionOf, notRerunnable, rerun } from './rerun.js';

const definition: KeptDefinition = {
  event: 'win',
  versionHash: 'a'.repeat(64),
  ...{ inputSchema: null, outputSchema: null, readEntities: [], stateChanges: null, behaviorPrompt: null },
  ...{ executionSettings: null, guards: null },
  mutationSettings: {
    mode: 'direct',
    template: {
      stateChanges: { 'horse:{{input.id}}': { wins: { $increment: 1 } } },
      result: { at: '{{ unix }}', by: '{{ walletAddress }}' },
    },
  },
  schemas: {
    horse: {
      name: 'horse',
      attributes: [{ name: 'wins', type: 'integer', constraints: null, defaultValue: 0 }],
      hash: 'b'.repeat(64),
    },
  },
};
const entry = {
  ...{ v: 2, evaluator: EVALUATOR, deployment: '0xabc', event: 'win', trigger: 'public', caller: 'wallet:W' },
  ...{ status: 'succeeded', input: { id: 'H1' }, llmHash: null, error: null },
  decidedAt: '1970-01-01T00:00:07.000Z',
  executedAt: '1970-01-01T00:00:09.000Z',
  changes: [
    { entitySchema: 'horse', instanceId: 'H1', op: 'update', set: { wins: 4 }, unset: [], revision: 2 },
  ],
  result: { at: 7, by: 'W' },
} as unknown as HashedEntry;
const decided = (one: HashedEntry, wins = 3, kept = definition) => {
  const decision = rerun(
    one,
    compileKept(kept),
    { worldAddress: '0xdef' },
    viewOf({ horse: { H1: { wins } } }),
  );
  if (decision.kind === 'needs') throw new Error('everything is in memory');
  return decision;
};

it('decides on the state, the input, the time and the caller of then', () => {
  expect(agrees(entry, decided(entry))).toBe(true);
  expect(agrees(entry, decided(entry, 5))).toBe(false);
  for (const change of [
    { result: { at: 9, by: 'W' } },
    { changes: [] },
    { status: 'failed', error: { code: 'x' } },
  ])
    expect(agrees({ ...entry, ...change } as HashedEntry, decided(entry))).toBe(false);
});

const byFirstRules = (one: HashedEntry): HashedEntry => ({ ...one, evaluator: 1 });

it('takes the changes in their one order; by revision 1 in any, which was that of the members of a template', () => {
  const template = (...ids: string[]) => ({
    stateChanges: Object.fromEntries(ids.map((id) => [`horse:${id}`, { wins: { $increment: 1 } }])),
  });
  const kept = (...ids: string[]) =>
    ({ ...definition, mutationSettings: { mode: 'direct', template: template(...ids) } }) as KeptDefinition;
  const changes = ['H1', 'H2'].map((instanceId) => ({
    ...{ entitySchema: 'horse', instanceId, op: instanceId === 'H1' ? 'update' : 'create', unset: [] },
    ...{ set: { wins: instanceId === 'H1' ? 4 : 1 }, revision: instanceId === 'H1' ? 2 : 1 },
  }));
  const both = { ...entry, changes, result: null } as unknown as HashedEntry;
  for (const one of [both, byFirstRules(both)]) {
    expect(agrees(one, decided(one, 3, kept('H1', 'H2')))).toBe(true);
    expect(agrees(one, decided(one, 3, kept('H2', 'H1')))).toBe(true);
    expect(agrees(one, decided(one, 3, kept('H1')))).toBe(false);
  }
  const turned = { ...both, changes: both.changes.toReversed() };
  expect(agrees(turned, decided(turned, 3, kept('H1', 'H2')))).toBe(false);
  expect(agrees(byFirstRules(turned), decided(byFirstRules(turned), 3, kept('H1', 'H2')))).toBe(true);
});

it('takes what is unset in its one order; by revision 1 in any, which was that of the members of a state', () => {
  const kept = {
    ...definition,
    stateChanges: { horse: 'full' },
    mutationSettings: { mode: 'direct', template: { 'horse:H1': { wins: 1 } } },
  } as KeptDefinition;
  const of = (...unset: string[]) =>
    ({ ...entry, changes: [{ ...entry.changes[0], set: { wins: 1 }, unset }], result: null }) as HashedEntry;
  const states = { horse: { H1: { wins: 3, b: 1, a: 2 } } };
  const decision = rerun(of(), compileKept(kept), { worldAddress: '0xdef' }, viewOf(states));
  if (decision.kind === 'needs') throw new Error('everything is in memory');
  expect(agrees(of('a', 'b'), decision)).toBe(true);
  expect(agrees(of('b', 'a'), decision)).toBe(false);
  expect(agrees(byFirstRules(of('b', 'a')), decision)).toBe(true);
  expect(agrees(of('b'), decision)).toBe(false);
});

it('decides what is set as timers', () => {
  const id = '019a0000-0000-7000-8000-000000000000';
  const followUps = [{ event: 'rest', input: { id: '{{ input.id }}' }, after: 'PT1M', key: 'k' }];
  const decision = decided({ ...entry, id }, 3, { ...definition, followUps });
  const timer = {
    id: timerIdOf(id, 0),
    event: 'rest',
    dueAt: '1970-01-01T00:01:07.000Z',
    key: 'k',
    inputHash: canonicalHash({ id: 'H1' }),
  };
  const saying = (timers: unknown) => ({ ...entry, id, timers }) as HashedEntry;
  expect(agrees(saying([timer]), decision)).toBe(true);
  expect(agrees(saying([{ ...timer, dueAt: '1970-01-01T00:01:09.000Z' }]), decision)).toBe(false);
  expect(agrees(saying([{ ...timer, inputHash: canonicalHash({ id: 'H2' }) }]), decision)).toBe(false);
  expect(agrees(saying([]), decision)).toBe(false);
  expect(agrees(saying(undefined), decision)).toBe(false);
  expect(agrees(saying([timer]), decided({ ...entry, id }))).toBe(false);
});

it('knows no wallet for the timer that the execution of a wallet has set', () => {
  const byTimer = { ...entry, trigger: 'timer', result: { at: 7, by: null } } as unknown as HashedEntry;
  expect(agrees(byTimer, decided(byTimer))).toBe(true);
});

it('takes a failure of the same code for the same', () => {
  const failed = {
    ...entry,
    input: {},
    status: 'failed',
    changes: [],
    result: null,
  } as unknown as HashedEntry;
  const { kind } = decided(failed);
  expect(kind).toBe('failed');
  expect(agrees({ ...failed, error: { code: 'template_failed', detail: '' } }, decided(failed))).toBe(true);
  expect(agrees({ ...failed, error: { code: 'invalid_state', detail: '' } }, decided(failed))).toBe(false);
});

it('says what it cannot decide again', () => {
  const reasons = (change: object, kept: KeptDefinition | undefined = definition) =>
    notRerunnable({ ...entry, ...change } as HashedEntry, kept);
  expect(reasons({})).toBeUndefined();
  expect(reasons({ v: 1 })).toBe('version_1');
  expect(reasons({ evaluator: EVALUATOR + 1 })).toBe('other_evaluator');
  expect(reasons({ evaluator: undefined })).toBe('other_evaluator');
  expect(reasons({ evaluator: 1 })).toBeUndefined();
  expect(notRerunnable(entry, undefined)).toBe('no_definition');
  expect(reasons({ llmHash: 'c'.repeat(64) })).toBe('model');
  expect(reasons({}, { ...definition, mutationSettings: null })).toBe('model');
  expect(reasons({ timers: [] })).toBeUndefined();
  expect(reasons({ randomness: { source: 'replayed', seed: '0'.repeat(64) } })).toBeUndefined();
  expect(reasons({}, { ...definition, newer: 1 } as never)).toBe('unknown_members');
  expect(reasons({ status: 'failed', error: { code: 'limit_reached', detail: '' } })).toBe('outside');
  const tooLarge = { code: 'read_set_too_large', detail: '' };
  expect(reasons({ status: 'failed', error: tooLarge })).toBeUndefined();
  expect(reasons({ status: 'failed', error: { ...tooLarge, facts: { maxBytes: 1 } } })).toBe('outside');
});

it.each<[string, object, 'outside' | undefined]>([
  [
    'a state beyond the limit of then',
    { code: 'invalid_state', detail: '', facts: { problems: [{ code: 'too_large' }] } },
    'outside',
  ],
  [
    'such a state in an entry whose facts were too large for it',
    { code: 'invalid_state', detail: '/horse:H1: A state has at most 64 KiB.' },
    'outside',
  ],
  [
    'a state that breaks its schema',
    { code: 'invalid_state', detail: '', facts: { problems: [{ code: 'wrong_type' }] } },
    undefined,
  ],
  [
    'a state that breaks its schema, without facts',
    { code: 'invalid_state', detail: '/horse:H1/a: The attribute "a" must be a text.' },
    undefined,
  ],
  [
    'the input of a follow-up beyond the limit of then',
    {
      code: 'invalid_follow_up',
      detail: '',
      facts: { reason: 'The input may have at most 65536 bytes as JSON.' },
    },
    'outside',
  ],
  [
    'another fault of a follow-up',
    {
      code: 'invalid_follow_up',
      detail: '',
      facts: { reason: 'The condition must be true, false or null.' },
    },
    undefined,
  ],
  [
    'an attribute that earlier releases took for a member of all objects',
    {
      code: 'operator_type_mismatch',
      detail: 'valueOf: The operator $increment cannot change function valueOf() { [native code] }.',
    },
    'outside',
  ],
  [
    'an operator that does not fit the value',
    {
      code: 'operator_type_mismatch',
      detail: 'wins: The operator $increment cannot change the text "function wins".',
    },
    undefined,
  ],
])('leaves or decides again: %s', (_what, error, expected) => {
  const failed = { ...entry, status: 'failed', error } as unknown as HashedEntry;
  expect(notRerunnable(failed, definition)).toBe(expected);
});

it('takes a definition for that of its hash only if all of it is covered', () => {
  const attributes = [{ name: 'wins', type: 'integer' as const, constraints: null, defaultValue: 0 }];
  const horse = { name: 'horse', attributes, hash: canonicalHash({ name: 'horse', attributes } as never) };
  const named = { ...definition, schemas: { horse } };
  const versionHash = hashOfDefinition(named);
  const whole = { ...named, versionHash };
  expect(isDefinitionOf(whole, versionHash)).toBe(true);
  for (const tampered of [
    { guards: { create: false } },
    { followUps: [] },
    { schemas: { horse: { ...horse, attributes: [] } } },
    { schemas: { cow: horse } },
    { versionHash: 'f'.repeat(64) },
  ])
    expect(isDefinitionOf({ ...whole, ...tampered } as KeptDefinition, versionHash)).toBe(false);
});
