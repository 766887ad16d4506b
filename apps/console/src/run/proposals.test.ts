import { expect, it } from 'vitest';
import { type Sample, sampleRows } from './proposals.js';

const sample = (name: string, wins: number, members: Partial<Sample> = {}): Sample => ({
  name,
  stateChanges: { 'horse:H1': { wins } },
  result: { headline: 'H1 wins' },
  error: null,
  llm: {
    model: 'm',
    attempts: [{ form: 'strict' }],
    usage: { inputTokens: 10, outputTokens: 2, usd: 0.5 },
    latencyMs: 1200,
  },
  ...members,
});

it('sets samples side by side, value by value, and says how many agree', () => {
  const refused = {
    stateChanges: {},
    result: null,
    llm: null,
    error: { code: 'ai_output_invalid', detail: 'No JSON.' },
  };
  const rows = sampleRows([sample('1', 1), sample('2', 2), sample('3', 1), sample('4', 0, refused)]);
  expect(rows).toEqual([
    { what: 'horse:H1 wins', values: ['1', '2', '1', undefined], same: 2 },
    { what: 'result headline', values: ['H1 wins', 'H1 wins', 'H1 wins', undefined], same: 3 },
    { what: 'outcome', values: ['valid', 'valid', 'valid', 'ai_output_invalid'], same: 3 },
    { what: 'requests', values: ['1', '1', '1', undefined] },
    { what: 'prompt tokens', values: ['10', '10', '10', undefined] },
    { what: 'answer tokens', values: ['2', '2', '2', undefined] },
    { what: 'cost', values: ['$0.50', '$0.50', '$0.50', undefined] },
    { what: 'ms', values: ['1,200', '1,200', '1,200', undefined] },
  ]);
});

it('says nothing of a model where a template decides, and names what is deleted', () => {
  const direct = sample('1', 1, { llm: null, stateChanges: { 'horse:H1': null }, result: 'done' });
  expect(sampleRows([direct, direct]).map(({ what, values }) => [what, values[0]])).toEqual([
    ['horse:H1', 'deleted'],
    ['result', 'done'],
    ['outcome', 'valid'],
  ]);
});
