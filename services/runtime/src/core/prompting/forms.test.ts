import { strictFormOf } from '@orrery/deciding';
import { entities, raceDefinition } from '@orrery/deciding/test-support';
import { describe, expect, it } from 'vitest';
import { modelAt, world } from './ai.test-support.js';
import {
  chatRequest,
  estimateTokens,
  formAfterRefusal,
  formBelow,
  type RequestForm,
  roomOf,
  schemaTokens,
} from './chat-request.js';

const best: RequestForm = {
  output: 'strict',
  tokenLimit: 'max_tokens',
  withTemperature: true,
  withSeed: true,
  withSystemRole: true,
};

describe('the form of a request', () => {
  it('goes down the ladder of outputs, then does without a system role', () => {
    const json = formBelow(best);
    expect(json?.output).toBe('json');
    const text = formAfterRefusal({ ...best, output: 'json' }, undefined);
    expect(text?.output).toBe('text');
    expect(formBelow({ ...best, output: 'text' })).toBeUndefined();
    const last = formAfterRefusal({ ...best, output: 'text' }, undefined);
    expect(last).toEqual({ ...best, withSystemRole: false });
    expect(formAfterRefusal({ ...best, output: 'text', withSystemRole: false }, undefined)).toBeUndefined();
  });

  it.each([
    ['max_tokens', { tokenLimit: 'max_completion_tokens' }],
    ['temperature', { withTemperature: false }],
    ['seed', { withSeed: false }],
    ['system', { withSystemRole: false }],
  ] as const)('does without the part that a server refuses: %s', (part, without) => {
    expect(formAfterRefusal(best, part)).toEqual({ ...best, ...without });
  });

  it('makes the body of a request', () => {
    const facts = { model: modelAt('http://a/v1'), definition: raceDefinition(), world, entities, input: {} };
    const parts = { strictForm: strictFormOf(facts.definition), refused: [], seed: 4 };
    const { body: strict, ...sizes } = chatRequest(facts, best, parts);
    expect(strict).toMatchObject({ model: 'large-1', max_tokens: 8192, seed: 4, stream: false });
    expect(strict['response_format']).toMatchObject({ type: 'json_schema' });
    expect(sizes).toEqual({ output: 'strict', outputTokens: 8192, inputTokens: expect.any(Number) });
    const form = { ...best, output: 'text', withSystemRole: false, withSeed: false } as const;
    const { body: plain } = chatRequest(facts, form, parts);
    expect(plain['messages']).toEqual([
      { role: 'user', content: expect.stringMatching(/^You decide one event.*# Input of the event/s) },
    ]);
    expect(plain).not.toHaveProperty('seed');
    expect(plain).not.toHaveProperty('response_format');
  });
});

describe('the prompt', () => {
  it('is measured by bytes', () => {
    expect([estimateTokens('abcd'), estimateTokens('äöü')]).toEqual([2, 2]);
    expect([schemaTokens(null), schemaTokens({})]).toEqual([0, 1]);
    const limits = [1, 4000, 1_000_000].map(
      (contextLength) => roomOf({ record: { ...modelAt('').record, contextLength } }).outputTokens,
    );
    expect(limits).toEqual([1, 1000, 8192]);
  });
});
