import { OrreryError } from '@orrery/sdk';
import { expect, it } from 'vitest';
import { failedEntryOf, isUndecided, llmOfError, newKey } from './execute.js';

const refusal = (code: string, status: number, facts: Record<string, unknown> = {}) =>
  new OrreryError({ code, status, detail: 'Refused.', facts });

it.each<[string, unknown, boolean]>([
  ['no answer came', refusal('network_error', 0), true],
  ['the process that had it died', refusal('unavailable', 503, { outcome: 'unknown' }), true],
  ['the first one is under way', refusal('request_in_flight', 409), true],
  ['it failed', refusal('invalid_state', 409, { seq: 7 }), false],
  ['it was refused', refusal('event_not_bound', 404), false],
  ['the page was left', new DOMException('aborted', 'AbortError'), false],
  ['it succeeded', null, false],
])('knows whether an execution is still to be asked for: %s', (_, error, undecided) => {
  expect(isUndecided(error)).toBe(undecided);
});

it('finds the entry and the exchange with the model that a failure tells of', () => {
  const failed = refusal('ai_output_invalid', 502, { seq: 7, llm: { model: 'm' } });
  expect(failedEntryOf(failed)).toBe(7);
  expect(llmOfError(failed)).toEqual({ model: 'm' });
  expect(failedEntryOf(refusal('event_not_bound', 404))).toBeUndefined();
  expect(llmOfError(new Error('other'))).toBeNull();
});

it('names each execution anew', () => {
  expect(newKey()).toMatch(/^[0-9a-f]{32}$/);
  expect(newKey()).not.toBe(newKey());
});
