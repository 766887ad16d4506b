import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../journal/journal.js';
import { addCosts, costOf, differencesOf, NO_COST, outcomeOf, partsIn } from './compare-entries.js';
import { attributesThatDiffer } from './compare-states.js';
import { checkOptions, rangeOf } from './replay-options.js';
import { createReplayTally, createRunTally, type ReplayedEntry } from './replay-tally.js';

const change = {
  entitySchema: 'horse',
  instanceId: 'H',
  op: 'update' as const,
  set: { wins: 1 },
  unset: [],
  revision: 3,
};
const entry = (members: object = {}): HistoryEntry =>
  ({
    kind: 'execution',
    event: 'race',
    eventVersion: 1,
    versionHash: 'a',
    status: 'succeeded',
    input: { id: 'H' },
    changes: [change],
    stateChanges: { 'horse:H': { wins: 1 } },
    result: { ok: true },
    error: null,
    llm: null,
    ...members,
  }) as unknown as HistoryEntry;
const compare = (members: object, outcome = 'executed' as const) =>
  differencesOf(entry(), { outcome, entry: entry(members) });

describe('two entries', () => {
  it('are the same whatever their revisions', () => {
    expect(compare({ changes: [{ ...change, revision: 9 }] })).toEqual([]);
  });

  it('have their changes in order from revision 2 of the rules on', () => {
    const other = { ...change, instanceId: 'A', op: 'delete' as const };
    const recorded = { changes: [{ ...change, unset: ['wins', 'age'] }, other] };
    const again = { changes: [other, { ...change, unset: ['age', 'wins'] }], evaluator: 2 };
    const compared = (evaluator: object) =>
      differencesOf(entry({ ...recorded, ...evaluator }), { outcome: 'executed', entry: entry(again) });
    expect([{}, { evaluator: 1 }, { evaluator: 2 }].map(compared)).toEqual([[], [], ['changes']]);
  });

  it.each([
    ['version', { eventVersion: 2, versionHash: 'b' }, false],
    ['definition', { versionHash: 'b' }, false],
    ['input', { input: {} }, false],
    ['status', { status: 'failed' }, true],
    ['changes', { changes: [] }, true],
    ['result', { result: null }, true],
    ['error', { error: { code: 'template_failed', detail: 'x' } }, true],
  ])('differ in %s', (difference, members, parts) => {
    expect(compare(members)).toEqual([difference]);
    expect(partsIn(compare(members))).toBe(parts);
  });

  it('differ in the text of an error, but not in how much of the template releases quote', () => {
    const failed = (detail: string, facts: object, code = 'template_failed') =>
      entry({ error: { code, detail, facts } });
    const old = failed('{{ input.x }}: The input has no "x".', { placeholder: '{{ input.x }}' });
    const between = (a: HistoryEntry, b: HistoryEntry) => differencesOf(a, { outcome: 'executed', entry: b });
    const told = failed('The input has no "…".', { reason: 'The input has no "…".' });
    expect(between(old, told)).toEqual([]);
    expect(between(old, failed('No.', {}, 'invalid_state'))).toEqual(['error']);
    expect(between(told, failed('Division by zero.', {}))).toEqual(['error']);
    expect(between(old, entry())).toEqual(['error']);
  });

  it('differ in the model only where both had one', () => {
    const by = (model: string) => entry({ llm: { model } });
    expect(differencesOf(by('a'), { outcome: 'executed', entry: by('b') })).toEqual(['model']);
    expect(differencesOf(entry(), { outcome: 'executed', entry: by('b') })).toEqual([]);
  });

  it('part where one was refused, and are the same where there is nothing to replay', () => {
    expect(differencesOf(entry(), { outcome: 'refused', entry: null })).toEqual(['refused']);
    expect(differencesOf(entry(), { outcome: 'skipped', entry: null })).toEqual([]);
  });
});

it('the cost of an entry has that of its earlier rounds', () => {
  const usage = { inputTokens: 10, outputTokens: 2, usd: 0.5, isEstimated: false };
  expect(costOf(entry({ llm: { usage, earlier: [{ usage }, {}] } }))).toEqual({
    executions: 1,
    inputTokens: 20,
    outputTokens: 4,
    usd: 1,
  });
  expect(costOf(entry())).toBe(NO_COST);
  expect(addCosts(NO_COST, NO_COST).usd).toBeNull();
});

it('attributes differ by their values, also where one is missing', () => {
  expect(attributesThatDiffer({ a: 1, b: [1], c: 1 }, { a: 1, b: [1], d: 2 })).toEqual(['c', 'd']);
  expect(attributesThatDiffer(null, { a: 1 })).toEqual(['a']);
});

describe('a replay', () => {
  it('has a range in the journal', async () => {
    const journal = { lastSeq: async () => 20 };
    expect(await rangeOf({}, journal)).toEqual({ from: 2, to: 20 });
    for (const options of [{ to: 21 }, { from: 21 }, { from: 5, inputs: { 4: {} } }])
      await expect(rangeOf(options, journal)).rejects.toThrow(RangeError);
    await expect(rangeOf({}, { lastSeq: async () => 10_002 })).rejects.toThrow(/10000/);
    for (const options of [{ from: 1 }, { from: 5, to: 4 }, { times: 0 }, { times: 21 }])
      expect(() => checkOptions(options)).toThrow(RangeError);
  });

  const step = (run: number, members: object = {}): ReplayedEntry => {
    const [original, replayed] = [entry({ llm: { model: 'm' } }), entry({ llm: { model: 'm' }, ...members })];
    const differences = differencesOf(original, { outcome: 'executed', entry: replayed });
    const parts = partsIn(differences);
    return { run, seq: 5, original, replayed, outcome: 'executed', error: null, differences, parts };
  };

  it('counts outcomes by event, and how they spread', () => {
    const tally = createReplayTally();
    for (const one of [step(1), step(2, { result: { ok: false } }), step(3)]) tally.add(one);
    const counted = expect.objectContaining({ succeeded: 1, failed: 0 });
    expect(tally.events(3)).toEqual([
      { event: 'race', original: counted, runs: [counted, counted, counted] },
    ]);
    const [spread] = tally.spreads();
    expect(spread?.outcomes.map(({ count, isOriginal }) => [count, isOriginal])).toEqual([
      [2, true],
      [1, false],
    ]);
  });

  it('compares what entries have touched that end otherwise', () => {
    const tally = createRunTally();
    tally.add(step(1));
    expect(tally.found()).toMatchObject({ entries: 1, partsAt: null, parting: [] });
    tally.add({ ...step(1, { changes: [{ ...change, instanceId: 'J' }] }), seq: 6 });
    expect(tally.found()).toMatchObject({ entries: 2, partsAt: 6, parting: [6], cost: { executions: 2 } });
    expect(tally.touched()).toEqual(['horse:H', 'horse:J']);
  });

  it('an outcome that was refused has its code', () => {
    expect(
      outcomeOf({ entry: null, outcome: 'refused', error: { code: 'invalid_input', detail: '' } }).code,
    ).toBe('invalid_input');
  });
});
