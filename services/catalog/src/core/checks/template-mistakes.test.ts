import type { JsonObject } from '@orrery/contracts';
import { compileContract } from '@orrery/expressions';
import { describe, expect, it } from 'vitest';
import { EMPTY_VERSION, type StoredVersion } from '../definitions/stored-version.js';
import {
  literalResult,
  resultMistakes,
  scheduledInputMistakes,
  templateMistakes,
} from './template-mistakes.js';

const direct = (template: JsonObject): StoredVersion => ({
  ...EMPTY_VERSION,
  mutationSettings: { mode: 'direct', template },
});

const contractOf = (schema: JsonObject) => {
  const compiled = compileContract(schema);
  if (!compiled.ok) throw new Error('the contract of the test does not compile');
  return compiled.contract;
};
const winner = contractOf({ winner: 'string' });

describe('templateMistakes', () => {
  it('finds what is read and not declared', () => {
    const version = direct({ 'horse:{{ input.loser }}': { wins: '{{ entities.horse }}' } });
    expect(templateMistakes(version, winner).map(({ pointer }) => pointer)).toEqual([
      '/mutationSettings/template/horse:{{ input.loser }}/wins',
      '/mutationSettings/template/horse:{{ input.loser }}',
    ]);
    expect(templateMistakes(EMPTY_VERSION, winner)).toEqual([]);
  });

  it('finds changes outside the version’s own map', () => {
    const version = { ...direct({ 'horse:H1': { wins: 1 } }), stateChanges: { hare: 'full' as const } };
    expect(templateMistakes(version)).toMatchObject([{ code: 'change_not_allowed' }]);
  });
});

describe('literalResult', () => {
  it('must be an object', () => {
    const form = (result: JsonObject[string]) => direct({ stateChanges: {}, result });
    expect(literalResult(form('done'))).toMatchObject([{ code: 'invalid_mutation' }]);
    expect(literalResult(form({ value: 'done' }))).toEqual([]);
    expect(literalResult(form('{{ input }}'))).toEqual([]);
  });
});

describe('resultMistakes', () => {
  it('finds what the outputSchema refuses of every result', () => {
    const form = (result: JsonObject) => direct({ stateChanges: {}, result });
    expect(resultMistakes(form({ winner: 7 }), winner)).toMatchObject([
      { pointer: '/mutationSettings/template/result/winner' },
    ]);
    expect(resultMistakes(form({ winner: '{{ input.winner }}' }), winner)).toEqual([]);
    expect(resultMistakes(form({ winner: 7 }))).toEqual([]);
  });
});

describe('scheduledInputMistakes', () => {
  it('finds what the inputSchema refuses of every input of the schedule', () => {
    const scheduled = (input?: JsonObject): StoredVersion => ({
      ...EMPTY_VERSION,
      executionSettings: { visibility: 'cron', cron: { schedule: '0 9 * * *', ...(input && { input }) } },
    });
    expect(scheduledInputMistakes(scheduled({ winner: 7 }), winner)).toMatchObject([
      { pointer: '/executionSettings/cron/input/winner' },
    ]);
    expect(scheduledInputMistakes(scheduled(), winner)).toHaveLength(1);
    expect(scheduledInputMistakes(scheduled({ winner: 'H1' }), winner)).toEqual([]);
  });
});
