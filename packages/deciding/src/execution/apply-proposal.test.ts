import type { ChangeMode, JsonObject, JsonValue } from '@orrery/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldChange, sameJson } from '../entries/entry.js';
import { proposalOf } from './apply-proposal.js';
import { applyMutation, applyProposal } from './execute-event.js';
import { executionOf, viewOf } from './execution.test-support.js';

const IDS = ['H1', 'H2', 'H3'];
const attribute = fc.constantFrom('wins', 'tags', 'free');
const value = fc.oneof(
  fc.integer({ min: -2, max: 12 }),
  fc.constant(null),
  fc.array(fc.integer(), { maxLength: 2 }),
  fc.dictionary(attribute, fc.integer(), { maxKeys: 2 }),
  fc.constantFrom({ $increment: 3 }, { $append: 1 }, { $unset: true }, { $set: [7] }),
) as fc.Arbitrary<JsonValue>;
const state = fc.record(
  { wins: fc.integer({ min: 0, max: 10 }), tags: fc.array(fc.integer(), { maxLength: 2 }) },
  { requiredKeys: ['wins'] },
) as fc.Arbitrary<JsonObject>;
const change = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(attribute, value) },
  { weight: 1, arbitrary: fc.constant({ $delete: true }) },
) as fc.Arbitrary<JsonObject>;
const mutation = fc.dictionary(
  fc.constantFrom(...IDS).map((id) => `horse:${id}`),
  change,
);
const mode = fc.constantFrom<ChangeMode>('partial', 'full', 'append');

const SCHEMA = {
  horse: {
    wins: ['integer', { defaultValue: 0, constraints: { min: 0, max: 10, required: true } }],
    tags: ['json', {}],
  },
} as NonNullable<Parameters<typeof executionOf>[0]['schemas']>;

/** The rules of "Changing" once more, as plainly as they can be written; a text where the change is refused. */
function model(
  how: ChangeMode,
  before: JsonObject | undefined,
  wanted: JsonObject,
): JsonObject | null | string {
  if (wanted['$delete'] === true) return before === undefined ? 'change_not_allowed' : null;
  const current: JsonObject = { wins: 0, ...before };
  const after: JsonObject = how === 'full' ? {} : { ...current };
  for (const [key, given] of Object.entries(wanted)) {
    const operator = given !== null && typeof given === 'object' && Object.keys(given)[0]?.startsWith('$');
    const had = operator ? (current[key] ?? null) : (after[key] ?? null);
    if (operator) {
      const [name, operand] = Object.entries(given)[0] ?? [];
      if (name === '$increment') {
        if (had !== null && typeof had !== 'number') return 'operator_type_mismatch';
        after[key] = (had ?? 0) + (operand as number);
      } else if (name === '$append') {
        if (had !== null && !Array.isArray(had)) return 'operator_type_mismatch';
        after[key] = [...(had ?? []), operand as JsonValue];
      } else if (name === '$unset') delete after[key];
      else after[key] = operand as JsonValue;
    } else if (how === 'full') after[key] = given;
    else if (given === null && key !== 'wins') delete after[key];
    else if (how === 'append' && Array.isArray(had)) after[key] = had.concat(given);
    else if (how === 'append' && isRecord(had) && isRecord(given)) after[key] = Object.assign({}, had, given);
    else after[key] = given;
  }
  if (!('wins' in after)) after['wins'] = 0;
  const wins = after['wins'];
  return Number.isInteger(wins) && Number(wins) >= 0 && Number(wins) <= 10 ? after : 'invalid_state';
}
const isRecord = (json: JsonValue): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

const freeze = <T>(json: T): T => {
  if (typeof json === 'object' && json !== null) Object.values(Object.freeze(json)).forEach(freeze);
  return json;
};

test('what changes is what the rules say, its changes fold to it, and a failure changes nothing', () => {
  const run = (how: ChangeMode) => executionOf({ schemas: SCHEMA, stateChanges: { horse: how } });
  const runs = { partial: run('partial'), full: run('full'), append: run('append') };
  fc.assert(
    fc.property(mode, fc.dictionary(fc.constantFrom(...IDS), state), mutation, (how, states, wanted) => {
      const proposal = proposalOf({ stateChanges: wanted }, 'template');
      const read = { entities: {}, reads: [], wholeSchemas: [] };
      const decision = applyProposal(runs[how], read, proposal, viewOf({ horse: freeze(states) }));
      const expected = Object.entries(wanted).map(([key, given]) => ({
        id: key.slice('horse:'.length),
        outcome: model(how, Object.hasOwn(states, key.slice(6)) ? states[key.slice(6)] : undefined, given),
      }));
      const refusals = expected
        .map(({ outcome }) => outcome)
        .filter((outcome) => typeof outcome === 'string');
      if (decision.kind === 'failed') {
        expect(refusals).toContain(decision.error.code);
        return;
      }
      if (decision.kind !== 'succeeded') throw new Error(decision.kind);
      expect(refusals).toEqual([]);
      const changes = new Map(decision.changes.map((made) => [made.instanceId, made]));
      for (const { id, outcome } of expected) {
        const before = Object.hasOwn(states, id) ? (states[id] ?? null) : null;
        const made = changes.get(id);
        const after = made === undefined ? before : foldChange(before, made);
        expect(sameJson(after, outcome as JsonObject | null)).toBe(true);
        expect(sameJson(made?.state ?? after, after)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test("a model's operators are values, and it changes nothing that it was not shown", () => {
  const run = executionOf({});
  const read = {
    entities: {},
    reads: [{ entitySchema: 'horse', instanceId: 'H1', revision: 1 }],
    wholeSchemas: [],
  };
  const view = viewOf({ horse: { H1: {}, H2: {} } });
  const decide = (wanted: JsonObject) => applyProposal(run, read, proposalOf(wanted, 'model'), view);
  expect(decide({ 'horse:H1': { x: { $increment: 1 } } })).toMatchObject({
    changes: [{ set: { x: { $increment: 1 } } }],
  });
  expect(decide({ 'horse:NEW': { x: 1 } })).toMatchObject({ kind: 'succeeded', changes: [{ op: 'create' }] });
  expect(decide({ 'horse:H2': { x: 1 } })).toMatchObject({ error: { code: 'change_not_allowed' } });
  expect(decide({ 'horse:H1': { $delete: true } })).toMatchObject({ error: { code: 'change_not_allowed' } });
});

test.each<[JsonObject, JsonValue]>([
  [{ valueOf: { $increment: 2 } }, 2],
  [{ toString: { $append: 1 } }, [1]],
  [{ hasOwnProperty: { $merge: { a: 1 } } }, { a: 1 }],
])(
  'an attribute that is named like a member of all objects is absent until it is set: %j',
  (change, value) => {
    const read = { entities: {}, reads: [], wholeSchemas: [] };
    for (const view of [viewOf(), viewOf({ horse: { H1: {} } })]) {
      const decision = applyProposal(
        executionOf({}),
        read,
        proposalOf({ 'horse:H1': change }, 'template'),
        view,
      );
      expect(decision).toMatchObject({ changes: [{ set: { [Object.keys(change)[0] ?? '']: value } }] });
    }
  },
);

const changing = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_none, i) => [`horse:N${i}`, { wins: 1 }]));

test.each<[string, JsonObject, refusal: string]>([
  ['an attribute out of bounds', { 'horse:H1': { wins: 11 } }, 'invalid_state'],
  ['a schema that the event may not change', { 'jockey:J1': {} }, 'change_not_allowed'],
  ['a deletion', { 'horse:H1': { $delete: true } }, 'change_not_allowed'],
  ['a key without a colon', { horse: { wins: 1 } }, 'invalid_change_key'],
  ['another form', { stateChanges: 3 }, 'template_failed'],
  ['a result of another type', { result: { winner: 3 } }, 'invalid_result'],
  ['too many instances', changing(501), 'change_too_large'],
  ['more than an entry holds', { result: { winner: 'H'.repeat(256 * 1024) } }, 'change_too_large'],
])('%s is a fault of what a model proposes', (_what, mutation, refusal) => {
  const error = { code: 'ai_output_invalid', facts: { refusal } };
  expect(judged(mutation)).toMatchObject({ kind: 'failed', error });
});

test('the reason does not repeat what a model wrote, which is for its owner', () => {
  const text = 'A quiet racecourse.';
  const reasons = [{ 'horse:H1': { wins: text } }, { result: { winner: [text], [text]: 1 } }].map(
    (mutation) => {
      const decision = judged(mutation);
      return decision.kind === 'failed' ? decision.error.errors.map(({ message }) => message) : [];
    },
  );
  expect(reasons).toEqual([
    ['The attribute "wins" must be a whole number.'],
    ['The field is not declared.', 'The value must be of type string.'],
  ]);
});

test('a limit of the deployment is no fault of what a model proposes', () => {
  expect(judged(changing(2))).toMatchObject({ kind: 'failed', error: { code: 'limit_reached' } });
  expect(judged(changing(1))).toMatchObject({ kind: 'succeeded' });
});

/** In a deployment with room for one more instance. */
function judged(mutation: JsonObject) {
  const run = executionOf({
    schemas: SCHEMA,
    stateChanges: { horse: 'partial' },
    outputSchema: { winner: 'string?' },
  });
  const execution = { ...run, instanceCount: { before: 1, limit: 2 } };
  const read = {
    entities: {},
    reads: [{ entitySchema: 'horse', instanceId: 'H1', revision: 1 }],
    wholeSchemas: [],
  };
  return applyMutation(execution, read, mutation, viewOf({ horse: { H1: { wins: 1 } } }));
}
