import { expect, test } from 'vitest';
import { ServiceError } from '../errors/service-error.js';
import { executionErrorOf } from './journal.js';

test('a reason is kept with its facts', () => {
  const error = new ServiceError('template_failed', 'no such key', { facts: { placeholder: '{{x}}' } });
  expect(executionErrorOf(error)).toEqual({
    code: 'template_failed',
    detail: 'no such key',
    facts: { placeholder: '{{x}}' },
  });
  expect(executionErrorOf(new ServiceError('internal'))).toEqual({
    code: 'internal',
    detail: expect.any(String),
  });
});

test('what PostgreSQL cannot store is replaced', () => {
  const error = new ServiceError('template_failed', 'a\u0000b\ud83d', {
    facts: { reason: '\ude00', list: ['\u0000'] },
  });
  expect(executionErrorOf(error)).toEqual({
    code: 'template_failed',
    detail: 'a\ufffdb\ufffd',
    facts: { reason: '\ufffd', list: ['\ufffd'] },
  });
});

test('a reason is bounded', () => {
  const error = new ServiceError('invalid_state', 'x'.repeat(5000), { facts: { text: 'x'.repeat(9000) } });
  const { detail, facts } = executionErrorOf(error);
  expect([detail.length, facts]).toEqual([2000, undefined]);
});
