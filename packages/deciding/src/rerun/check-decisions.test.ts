import {
  canonicalHash,
  DEFAULT_CONTENT_LIMITS,
  EVALUATOR,
  executionErrorOf,
  type HashedEntry,
  type JsonObject,
  type KeptDefinition,
} from '@orrery/contracts';
import { expect, it } from 'vitest';
import { decideExecution } from '../execution/execute-event.js';
import { viewOf } from '../execution/execution.test-support.js';
import { commitmentOf } from '../randomness/seed.js';
import { createDecisionCheck } from './check-decisions.js';
import { compileKept, executionOf, hashOfDefinition } from './rerun.js';

const content = {
  ...{ event: 'win', inputSchema: null, outputSchema: null, readEntities: [], stateChanges: null },
  ...{ behaviorPrompt: null, executionSettings: null, guards: null, versionHash: '', schemas: {} },
  mutationSettings: { mode: 'direct', template: { result: { n: '{{ input.n + 1 }}' } } },
} as KeptDefinition;
const versionHash = hashOfDefinition(content);
const definition = { ...content, versionHash };

const entryOf = (n: number, result: number, more: object = {}) =>
  ({
    ...{
      seq: 5,
      v: 2,
      evaluator: EVALUATOR,
      kind: 'execution',
      event: 'win',
      versionHash,
      caller: 'account:1',
    },
    ...{ status: 'succeeded', input: { n }, changes: [], result: { n: result }, llmHash: null, error: null },
    ...{ decidedAt: '2026-01-01T00:00:00.000Z', executedAt: '2026-01-01T00:00:00.000Z' },
    ...more,
  }) as unknown as HashedEntry;

const checkWith = (
  kept: KeptDefinition | undefined,
  first: Parameters<typeof createDecisionCheck>[0]['first'] = [],
) => {
  const asked: string[] = [];
  const definitionOf = async (hash: string) => {
    asked.push(hash);
    return kept;
  };
  return {
    asked,
    ...createDecisionCheck({
      worldAddress: '0xdef',
      first,
      definitionOf,
      exchangeOf: async () => undefined,
    }),
  };
};

it('decides again what it has the definition of, which it asks for once', async () => {
  const { check, counts, asked } = checkWith(definition);
  expect(await check(entryOf(1, 2))).toBeUndefined();
  expect(check(entryOf(1, 2))).toBeUndefined();
  expect(check(entryOf(1, 3))).toEqual({ seq: 5, what: 'decision_differs' });
  expect(await check(entryOf(1, 3, { kind: 'paused' }))).toBeUndefined();
  expect([counts, asked]).toEqual([{ rerun: 3, notRerun: {} }, [versionHash]]);
});

it.each([
  [
    'changes',
    { changes: [{ entitySchema: 'horse', instanceId: 'H1', op: 'create', revision: 1, set: {}, unset: [] }] },
  ],
  ['a result', { result: { n: 2 } }],
])('a failed execution with %s is false, also where it cannot be decided again', async (_what, effect) => {
  const { check, counts } = checkWith(definition);
  const failed = { status: 'failed', result: null, error: { code: 'payment_refused', message: '' } };
  expect(await check(entryOf(1, 2, failed))).toBeUndefined();
  expect(counts.notRerun).toEqual({ outside: 1 });
  expect(await check(entryOf(1, 2, { ...failed, ...effect }))).toEqual({ seq: 5, what: 'decision_differs' });
});

it('leaves what an earlier release executed, whose computed keys made the form of a mutation', async () => {
  const template = { '{{ input.key }}': { n: 2 } };
  const kept = { ...content, mutationSettings: { mode: 'direct', template } } as KeptDefinition;
  const hash = hashOfDefinition(kept);
  const { check, counts } = checkWith({ ...kept, versionHash: hash });
  expect(await check(entryOf(1, 2, { versionHash: hash, input: { key: 'result' } }))).toBeUndefined();
  expect(counts).toEqual({ rerun: 0, notRerun: { outside: 1 } });
});

/** An entry of an execution under the limits of an operator that has left them as they are. */
function entryUnderDefaults(kept: KeptDefinition, input: JsonObject, states: Record<string, JsonObject>) {
  const entry = entryOf(1, 2, { versionHash: kept.versionHash, input });
  const execution = executionOf(entry, compileKept(kept), { worldAddress: '0xdef' });
  const limits = DEFAULT_CONTENT_LIMITS;
  const decision = decideExecution({ ...execution, limits }, viewOf({ horse: states }));
  if (decision.kind !== 'failed') throw new Error(decision.kind);
  return { ...entry, status: 'failed', result: null, error: executionErrorOf(decision.error) } as HashedEntry;
}

const horse = { name: 'horse', attributes: [], hash: canonicalHash({ name: 'horse', attributes: [] }) };
const long = 'x'.repeat(40_000);

it.each<[string, Partial<KeptDefinition>, string]>([
  [
    'a state that has grown beyond its limit',
    {
      mutationSettings: {
        mode: 'direct',
        template: { 'horse:H1': { log: { $append: '{{ input.text }}' } } },
      },
    },
    'invalid_state',
  ],
  [
    'an input of a follow-up beyond its limit',
    {
      mutationSettings: { mode: 'direct', template: { result: {} } },
      followUps: [{ event: 'win', input: { text: '{{ input.text + input.text }}' } }],
    },
    'invalid_follow_up',
  ],
])('leaves %s, which is the operator’s', async (_what, parts, code) => {
  const kept = { ...content, schemas: { horse }, ...parts } as KeptDefinition;
  const whole = { ...kept, versionHash: hashOfDefinition(kept) };
  const entry = entryUnderDefaults(whole, { text: long }, { H1: { log: [long] } });
  expect(entry.error).toMatchObject({ code });
  const { check, counts } = checkWith(whole, [
    { entitySchema: 'horse', instanceId: 'H1', state: { log: [long] } },
  ]);
  expect(await check(entry)).toBeUndefined();
  expect(counts).toEqual({ rerun: 0, notRerun: { outside: 1 } });
});

it('counts what it cannot decide, without asking for a definition in vain', async () => {
  const { check, counts, asked } = checkWith(undefined);
  expect(await check(entryOf(1, 3, { v: 1 }))).toBeUndefined();
  expect(asked).toEqual([]);
  expect(await check(entryOf(1, 3))).toBeUndefined();
  expect(counts).toEqual({ rerun: 0, notRerun: { version_1: 1, no_definition: 1 } });
});

it('takes no definition that its hash does not name', async () => {
  const { check } = checkWith({ ...definition, guards: { create: false } });
  expect(await check(entryOf(1, 2))).toEqual({ seq: 5, what: 'definition_differs' });
});

it('names the entry of which a reveal shows that its seed was another one, also where no definition can be read', async () => {
  const { check, counts } = checkWith(undefined);
  const seed = '0'.repeat(64);
  const randomness = { source: 'deployment', commitment: commitmentOf(new Uint8Array(1)), run: 'r', seed };
  const facts = (input: object) => ({
    kind: `randomness_${'secrets' in input ? 'revealed' : 'committed'}`,
    input,
  });
  const { commitment } = randomness;
  expect(await check(entryOf(1, 2, facts({ commitment })))).toBeUndefined();
  expect(await check(entryOf(1, 2, { seq: 6, randomness }))).toBeUndefined();
  expect(counts).toEqual({
    ...{ rerun: 0, notRerun: { no_definition: 1 } },
    seeds: { checked: 0, notChecked: { unrevealed: 1 } },
  });
  const told = facts({ secrets: [{ commitment, secret: '00' }] });
  expect(await check(entryOf(1, 2, { seq: 7, ...told }))).toEqual({ seq: 6, what: 'draws_differ' });
});

it('leaves what a fork remembers of its source, which stands in another journal', async () => {
  const remembering = { ...content, readHistory: { last: 3 } } as KeptDefinition;
  const hash = hashOfDefinition(remembering);
  const { check, counts } = checkWith({ ...remembering, versionHash: hash });
  const replayed = { versionHash: hash, replayOf: { seq: 3, executedAt: '2026-01-01T00:00:00.000Z' } };
  expect(await check(entryOf(1, 2, replayed))).toBeUndefined();
  expect(counts).toEqual({ rerun: 0, notRerun: { outside: 1 } });
});
