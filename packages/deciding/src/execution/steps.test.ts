import { DEFAULT_CONTENT_LIMITS as LIMITS, ServiceError } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { applyChanges, decideDirect, invalidKey, proposalOf, templateScope } from './apply-proposal.js';
import {
  changeNotAllowed,
  checkEntrySize,
  checkInstanceCount,
  checkResult,
  checkStates,
  noChanges,
  refuseUnloaded,
  tooManyInstances,
} from './check-changes.js';
import { decideExecution, readForExecution, recallFor, refuseInput } from './execute-event.js';
import { compileSchema, type InstanceState } from './execution.js';
import { emptyView, executionOf, schemaOf, viewOf } from './execution.test-support.js';

const code = (work: () => unknown): string | undefined => {
  try {
    work();
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
  return undefined;
};
const horse = compileSchema(schemaOf('horse', { wins: 'integer' }));
const applied = (before: InstanceState | null, after: Record<string, number | string> | null) => ({
  entitySchema: 'horse',
  instanceId: 'H1',
  schema: horse,
  before,
  after,
  named: new Set<string>(),
});

describe('read', () => {
  const parts = { readEntities: [{ schema: 'horse', filter: ['horse'] }] };

  it('names what is not in memory', () => {
    expect(readForExecution(executionOf(parts, { horse: 'H1' }), emptyView)).toEqual({
      kind: 'refused',
      error: expect.objectContaining({ code: 'mutation_missing' }),
    });
    const direct = executionOf({ ...parts, template: {} }, { horse: 'H1' });
    const needs = [{ entitySchema: 'horse', instanceId: 'H1' }];
    expect(readForExecution(direct, emptyView)).toEqual({ kind: 'needs', instances: needs, schemas: [] });
  });

  it('finds states and absent instances', () => {
    const direct = executionOf({ ...parts, template: {} }, { horse: 'H1' });
    const found = readForExecution(direct, viewOf({ horse: { H1: { wins: 1 } } }));
    expect(found).toMatchObject({ kind: 'read', read: { entities: { horse: { H1: { wins: 1 } } } } });
    const reads = [{ entitySchema: 'horse', instanceId: 'H1', revision: 0 }];
    expect(readForExecution(direct, viewOf())).toMatchObject({ kind: 'read', read: { reads } });
  });
});

describe('decide', () => {
  const read = { entities: {}, reads: [], wholeSchemas: [] };

  it('evaluates a template', () => {
    const execution = executionOf({ template: { result: { laps: '{{input.laps}}' } } }, { laps: 3 });
    expect(decideDirect(execution, read)).toMatchObject({ from: 'template', result: { laps: 3 } });
    expect(code(() => decideDirect(executionOf({}), read))).toBe('mutation_missing');
  });

  it('names the key that names no instance', () => {
    expect(invalidKey('horse', 'no colon')).toMatchObject({
      code: 'invalid_change_key',
      facts: { key: 'horse' },
    });
  });
});

describe('apply', () => {
  const { definition } = executionOf({ schemas: { horse: { wins: 'integer' } } });
  const proposal = proposalOf({ stateChanges: { 'horse:H1': { wins: 2 } } }, 'template');

  it('needs the instances that are not in memory', () => {
    const instances = [{ entitySchema: 'horse', instanceId: 'H1' }];
    expect(applyChanges(definition, proposal, emptyView)).toEqual({ needs: { instances, schemas: [] } });
  });

  it('merges into a copy', () => {
    const before = { wins: 1, name: 'Ada' };
    const outcome = applyChanges(definition, proposal, viewOf({ horse: { H1: before } }));
    expect(outcome).toMatchObject({ applied: [{ after: { wins: 2, name: 'Ada' } }] });
    expect(before.wins).toBe(1);
  });

  it('refuses a schema that the version does not have', () => {
    const other = proposalOf({ stateChanges: { 'cow:C1': {} } }, 'template');
    expect(code(() => applyChanges(definition, other, viewOf()))).toBe('change_not_allowed');
  });
});

describe('check', () => {
  it('makes changes of states that satisfy their schemas', () => {
    const [created] = checkStates([applied(null, { wins: 1 })], LIMITS);
    expect(created).toMatchObject({ op: 'create', set: { wins: 1 }, revision: 1 });
    const same = applied({ state: { wins: 1 }, revision: 4 }, { wins: 1 });
    expect(checkStates([same], LIMITS)).toEqual([]);
    expect(checkStates([same], LIMITS, { keepIdle: true })).toMatchObject([{ op: 'update', revision: 5 }]);
    expect(code(() => checkStates([applied(null, { wins: 'many' })], LIMITS))).toBe('invalid_state');
  });

  it('bounds an entry', () => {
    const entryBytes = 1024;
    expect(
      code(() => checkEntrySize({ a: 'x'.repeat(100) }, noChanges(), null, { entryBytes })),
    ).toBeUndefined();
    const large = { a: 'x'.repeat(2000) };
    expect(code(() => checkEntrySize(large, noChanges(), null, { entryBytes }))).toBe('change_too_large');
  });

  it('lets a model change what it was shown', () => {
    const change = applied({ state: {}, revision: 1 }, { wins: 1 });
    expect(code(() => refuseUnloaded([change], []))).toBe('change_not_allowed');
    const reads = [{ entitySchema: 'horse', instanceId: 'H1', revision: 1 }];
    expect(code(() => refuseUnloaded([change, applied(null, {})], reads))).toBeUndefined();
  });

  it('checks a result by its contract', () => {
    const { definition } = executionOf({ outputSchema: { winner: 'string' } });
    expect(code(() => checkResult(definition, { winner: 'H1' }))).toBeUndefined();
    expect(code(() => checkResult(definition, null))).toBe('invalid_result');
  });

  it('bounds how many instances there are, and lets a deployment that has too many lose some', () => {
    const created = checkStates([applied(null, {})], LIMITS);
    expect(code(() => checkInstanceCount(created, { before: 2, limit: 3 }))).toBeUndefined();
    expect(code(() => checkInstanceCount(created, { before: 3, limit: 3 }))).toBe(tooManyInstances(3).code);
    const deleted = checkStates([applied({ state: {}, revision: 1 }, null)], LIMITS);
    expect(code(() => checkInstanceCount(deleted, { before: 9, limit: 3 }))).toBeUndefined();
  });

  it('says what a version may not change', () => {
    const name = { entitySchema: 'horse', instanceId: 'H1' };
    const error = changeNotAllowed('maxDelta', name, { attribute: 'wins', limit: 2 });
    expect(error.message).toContain('at most 2');
    expect(error.facts).toEqual({ key: 'horse:H1', reason: 'maxDelta', attribute: 'wins', limit: 2 });
  });
});

describe('what is remembered', () => {
  const template = { result: { seen: '{{ history.map(h, h.seq) }}' } };
  const remembering = executionOf({ template, readHistory: { last: 2 } });
  const view = { ...viewOf(), recent: { find: () => [{ seq: 9 }, { seq: 7 }] } };

  it('is asked for once what is read is known, and is in the order of the journal', () => {
    const read = { entities: {}, reads: [], wholeSchemas: [] };
    const needed = { kind: 'needs', instances: [], schemas: [], history: { last: 2 } };
    expect(recallFor(remembering, read, emptyView)).toEqual(needed);
    expect(recallFor(remembering, read, view)).toMatchObject({
      kind: 'read',
      read: { history: { entries: [{ seq: 7 }, { seq: 9 }], leftOut: 0 } },
    });
    expect(recallFor(executionOf({ template }), read, emptyView)).toEqual({ kind: 'read', read });
  });

  it('is recorded with the decision, and only where it is asked for', () => {
    expect(decideExecution(remembering, view)).toMatchObject({
      kind: 'succeeded',
      result: { seen: [7, 9] },
      recorded: { readHistoryHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(decideExecution(executionOf({ template }), view)).not.toHaveProperty('recorded');
  });
});
describe('follow-ups', () => {
  const parts = {
    inputSchema: { id: 'string' },
    template: { stateChanges: {}, result: { isOver: true } },
    followUps: [{ event: 'next', input: { id: '{{ input.id }}' }, when: '{{ result.isOver }}' }],
  };

  it('are part of the decision, with its result', () => {
    const decision = decideExecution(executionOf(parts, { id: 'a' }), emptyView);
    const next = { event: 'next', input: { id: 'a' }, isNext: true, key: null };
    expect(decision).toMatchObject({ kind: 'succeeded', followUps: [next] });
    const plain = decideExecution(executionOf({ ...parts, followUps: [] }, { id: 'a' }), emptyView);
    expect(plain).not.toHaveProperty('followUps');
  });

  it('that cannot be evaluated fail the execution', () => {
    const broken = { ...parts, followUps: [{ event: 'next', key: '{{ result.missing }}' }] };
    expect(decideExecution(executionOf(broken, { id: 'a' }), emptyView)).toMatchObject({
      kind: 'failed',
      error: { code: 'template_failed' },
    });
  });

  it('know the names of a template', () => {
    const execution = executionOf(parts, { id: 'a' });
    const scope = templateScope(execution, { entities: {}, reads: [], wholeSchemas: [] });
    expect(scope).toMatchObject({ input: { id: 'a' }, entities: {}, event: execution.event });
  });
});

it('an input that breaks the contract is refused', () => {
  const { definition } = executionOf({ inputSchema: { id: 'string' } });
  expect(code(() => refuseInput(definition, { id: 1 }, LIMITS))).toBe('invalid_input');
  expect(code(() => refuseInput(definition, { id: 'a' }, LIMITS))).toBeUndefined();
});
