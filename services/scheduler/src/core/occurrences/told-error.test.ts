import { executionErrorOf, type ServiceError } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { makeInput } from './make-input.js';
import { toldError } from './told-error.js';

const schedule = {
  definition_hash: null,
  cron_state: { counter: 1, scheduledAt: null, result: null },
  deployment: 'd',
  event: 'e',
  world_address: 'w',
};
function errorOf(placeholder: string) {
  try {
    makeInput({ ...schedule, input: { n: placeholder } }, { counter: 2, scheduledAt: 0, now: 0 });
  } catch (error) {
    return executionErrorOf(error as ServiceError);
  }
  throw new Error('it did not fail');
}
const told = (detail: string) => ({ code: 'template_failed', detail, facts: { reason: detail } });

it.each([
  ['{{ cronState.sesame }}', 'There is no "…".'],
  ['{{ counter == 42 ? 1 : fail("Not yet.") }}', 'Not yet.'],
])('tells the reason of %s, and nothing of its text', (placeholder, reason) => {
  const error = errorOf(placeholder);
  expect(error.facts).toMatchObject({ placeholder, pointer: '/n' });
  expect(toldError(error)).toEqual(told(reason));
});

it('tells no more of what an earlier release has written', () => {
  const old = (detail: string, reason: string) => ({
    code: 'template_failed',
    detail,
    facts: { placeholder: '{{ input.sesame }}', pointer: '/n', reason },
  });
  expect(
    toldError(old('{{ input.sesame }}: The input has no "sesame".', 'The input has no "sesame".')),
  ).toEqual(told('The template failed.'));
  expect(toldError(old('Not yet.', 'Not yet.'))).toEqual(told('Not yet.'));
});

it('tells nothing where the facts were too large to be kept', () => {
  expect(toldError({ code: 'template_failed', detail: '{{ sesame }}: No.' })).toMatchObject({
    detail: 'The template failed.',
  });
});

it('leaves other errors as they are', () => {
  const error = { code: 'invalid_input', detail: 'No.', facts: { problems: [] } };
  expect([toldError(error), toldError(null)]).toEqual([error, null]);
});
