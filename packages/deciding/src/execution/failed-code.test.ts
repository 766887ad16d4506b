import { describe, expect, it } from 'vitest';
import { applyMutation, decideExecution } from './execute-event.js';
import { emptyView, executionOf } from './execution.test-support.js';
import { failedCodeOf, withFailedCode } from './failed-code.js';

const SECRET = '{{ input.word == "sesame" ? 1 : input.sesame }}';
const failed = (parts: Parameters<typeof executionOf>[0]) => {
  const decision = decideExecution(executionOf(parts, { word: 'a' }), emptyView);
  if (decision.kind !== 'failed') throw new Error(decision.kind);
  return decision.error;
};
const code = { placeholder: SECRET, reason: 'The input has no "sesame".' };

describe('a template that fails', () => {
  const error = failed({ template: { 'horse:{{ input.word }}': { x: SECRET } } });

  it('tells no text of its own', () => {
    const { message, facts, errors } = error;
    expect({ message, facts, errors }).toEqual({
      message: 'The input has no "…".',
      facts: { reason: 'The input has no "…".' },
      errors: [],
    });
  });

  it('tells all to those who may see it', () => {
    const pointer = '/horse:{{ input.word }}/x';
    expect(failedCodeOf(error)).toEqual({ ...code, pointer });
    const { message, facts } = withFailedCode(error);
    expect({ message, facts }).toEqual({
      message: `${SECRET}: The input has no "sesame".`,
      facts: { ...code, pointer },
    });
  });
});

it('a follow-up that fails tells where it stands in its version', () => {
  const error = failed({ template: {}, followUps: [{ event: 'next', input: { x: SECRET } }] });
  expect(error).toMatchObject({ message: 'The input has no "…".', facts: {} });
  expect(failedCodeOf(error)).toEqual({ ...code, pointer: '/followUps/0/input/x' });
});

it("a follow-up that fails by a model's answer tells neither the model nor the journal its text", () => {
  const execution = executionOf({ followUps: [{ event: 'next', input: { x: SECRET } }] }, { word: 'a' });
  const read = { entities: {}, reads: [], wholeSchemas: [] };
  const decision = applyMutation(execution, read, {}, emptyView);
  if (decision.kind !== 'failed') throw new Error(decision.kind);
  expect(decision.error).toMatchObject({ code: 'ai_output_invalid', message: 'The input has no "…".' });
  expect(JSON.stringify(decision.error.facts)).not.toContain('sesame');
  expect(failedCodeOf(decision.error)).toMatchObject(code);
});

it('what is kept is bounded, and can be stored', () => {
  const error = failed({ template: { result: { ['x'.repeat(9000)]: SECRET } } });
  expect(failedCodeOf(error)?.pointer).toHaveLength(5001);
  const unstorable = failed({ template: { result: { x: '{{ {}["\\u0000"] }}' } } });
  expect(failedCodeOf(unstorable)?.reason).toBe('There is no "\ufffd".');
});

it('other errors have no code', () => {
  const error = failed({ template: { result: 'text' } });
  expect([failedCodeOf(error), withFailedCode(error)]).toEqual([null, error]);
});
