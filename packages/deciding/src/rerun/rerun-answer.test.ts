import { canonicalHash, EVALUATOR, type HashedEntry, type JsonObject } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { raceDefinition } from '../answers/race.test-support.js';
import { compileDefinition } from '../execution/execution.js';
import { viewOf } from '../execution/execution.test-support.js';
import { agrees } from './rerun.js';
import { isAnswerRerunnable, isExchangeOf, rerunAnswer } from './rerun-answer.js';

const definition = compileDefinition(raceDefinition());
const states = { horse: { HORSE_1: { wins: 3 } }, course: { ASCOT: { length: 1200 } } };
const exchangeWith = (response: unknown, form = 'json'): JsonObject => ({
  ...{ model: 'racing/large', request: { messages: [] }, attempts: [{ form, error: null }] },
  response: typeof response === 'string' ? response : JSON.stringify(response),
});
const exchange = exchangeWith({
  stateChanges: { 'horse:HORSE_1': { wins: 4 } },
  result: { winner: 'HORSE_1' },
});
const llmHashOf = ({ model, request, response }: JsonObject): string =>
  canonicalHash({ model: model ?? null, request: request ?? null, response: response ?? null });
const entry = {
  ...{
    v: 2,
    evaluator: EVALUATOR,
    deployment: '0xabc',
    event: 'race',
    trigger: 'admin',
    caller: 'account:1',
  },
  ...{ status: 'succeeded', input: {}, error: null, llmHash: llmHashOf(exchange) },
  readHistoryHash: 'd'.repeat(64),
  decidedAt: '1970-01-01T00:00:07.000Z',
  changes: [
    { entitySchema: 'horse', instanceId: 'HORSE_1', op: 'update', set: { wins: 4 }, unset: [], revision: 2 },
  ],
  result: { winner: 'HORSE_1' },
} as unknown as HashedEntry;
const again = (answered: JsonObject) => {
  const decision = rerunAnswer(entry, definition, { worldAddress: '0xdef' }, answered, viewOf(states));
  return decision && decision.kind !== 'needs' && agrees(entry, decision);
};

it('applies an answer again, and finds one that gives something else', () => {
  expect(again(exchange)).toBe(true);
  expect(again(exchangeWith({ stateChanges: { 'horse:HORSE_1': { wins: 5 } }, result: null }))).toBe(false);
  expect(again(exchangeWith('I will not.'))).toBeUndefined();
});

it('reads what earlier releases took, however large', () => {
  const won = { stateChanges: { 'horse:HORSE_1': { wins: 4 } }, result: { winner: 'HORSE_1' } };
  expect(again(exchangeWith(`${JSON.stringify(won)}${' '.repeat(600_000)}`))).toBe(true);
  const gear = Array.from({ length: 54_000 }, () => 0);
  const many = { ...won, stateChanges: { 'horse:HORSE_1': { wins: 4, gear } } };
  const set = { wins: 4, gear };
  const changes = [{ ...entry.changes[0], set }] as unknown as HashedEntry['changes'];
  for (const [answer, form] of [
    [many, 'json'],
    [
      {
        stateChanges: {
          horse: [{ instanceId: 'HORSE_1', state: { wins: 4, gear: JSON.stringify(gear) }, unset: [] }],
        },
        result: { winner: 'HORSE_1', time: null },
      },
      'strict',
    ],
  ] as const) {
    const place = { worldAddress: '0xdef' };
    const decision = rerunAnswer(entry, definition, place, exchangeWith(answer, form), viewOf(states));
    expect(decision && decision.kind !== 'needs' && agrees({ ...entry, changes }, decision)).toBe(true);
  }
});

it('takes the changes of an answer in their one order, whatever that of the answer is', () => {
  const both = exchangeWith({
    stateChanges: { 'horse:HORSE_2': { wins: 1 }, 'horse:HORSE_1': { wins: 4 } },
    result: { winner: 'HORSE_1' },
  });
  const created = { ...entry.changes[0], instanceId: 'HORSE_2', op: 'create', set: { wins: 1 }, revision: 1 };
  const changes = [...entry.changes, created] as HashedEntry['changes'];
  const decision = rerunAnswer(entry, definition, { worldAddress: '0xdef' }, both, viewOf(states));
  if (decision === undefined || decision.kind === 'needs') throw new Error('it is in memory');
  expect(agrees({ ...entry, changes }, decision)).toBe(true);
  expect(agrees({ ...entry, changes: changes.toReversed() }, decision)).toBe(false);
  expect(agrees({ ...entry, evaluator: 1, changes: changes.toReversed() }, decision)).toBe(true);
  expect(agrees(entry, decision)).toBe(false);
});

it('reads it in the form that was asked for', () => {
  const item = { instanceId: 'HORSE_1', state: { wins: 4, name: null }, unset: [] };
  const strict = { stateChanges: { horse: [item] }, result: { winner: 'HORSE_1', time: null } };
  expect(again(exchangeWith(strict, 'strict'))).toBe(true);
  expect(again(exchangeWith(strict, 'json'))).toBeUndefined();
});

it('knows the exchange of an entry by its hash', () => {
  expect(isExchangeOf(entry, exchange)).toBe(true);
  expect(isExchangeOf(entry, exchangeWith({ result: null }))).toBe(false);
});

it('leaves what depends on more than what was read', () => {
  expect(isAnswerRerunnable(entry, definition)).toBe(true);
  expect(isAnswerRerunnable({ ...entry, status: 'failed' }, definition)).toBe(false);
  const followUps = [{ event: 'race' }];
  const remembering = compileDefinition(raceDefinition({ readHistory: { last: 3 }, followUps }));
  expect(isAnswerRerunnable(entry, remembering)).toBe(false);
});
