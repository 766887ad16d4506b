import { OrreryError } from '@orrery/sdk';
import { expect, it } from 'vitest';
import { failedTitle, isUndecided } from './undecided.js';

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
])('knows whether the outcome of a request is still to be asked for: %s', (_, error, undecided) => {
  expect(isUndecided(error)).toBe(undecided);
});

it.each([
  ['It was not run', 'It is not known whether it was run'],
  ['The world was not saved', 'It is not known whether the world was saved'],
  ['No webhook was made', 'It is not known whether a webhook was made'],
])('does not say "%s" of what may have been done', (failed, unknown) => {
  expect(failedTitle(refusal('network_error', 0), failed)).toBe(unknown);
  expect(failedTitle(refusal('forbidden', 403), failed)).toBe(failed);
});
