import { expect, it } from 'vitest';
import { fromErrorReply, ServiceError, toErrorReply } from './service-error.js';

it('an error arrives as it was sent', () => {
  const errors = [{ pointer: '/a', code: 'too_small', message: 'Too small.' }];
  const error = new ServiceError('invalid_state', 'No.', { errors, facts: { at: 1 } });
  expect(fromErrorReply(toErrorReply(error))).toEqual(error);
});

it('an error that quotes what PostgreSQL refuses can be stored', () => {
  const errors = [{ pointer: '/a\u0000', code: 'too_small', message: 'b\ud83d' }];
  const error = new ServiceError('invalid_state', 'c\udc0e', { errors, facts: { 'd\u0000': ['\ud83d'] } });
  expect(toErrorReply(error)).toEqual({
    code: 'invalid_state',
    detail: 'c\ufffd',
    errors: [{ pointer: '/a\ufffd', code: 'too_small', message: 'b\ufffd' }],
    facts: { 'd\ufffd': ['\ufffd'] },
  });
});

it.each([
  [400, 'validation_failed'],
  [409, 'validation_failed'],
  [503, 'unavailable'],
  [502, 'internal'],
  [undefined, 'internal'],
])('an error of a later release whose status is %s comes to %s, and keeps its sentence', (status, code) => {
  const reply = {
    code: 'of_a_later_release',
    detail: 'Wait.',
    errors: [],
    facts: {},
    ...(status && { status }),
  };
  expect(fromErrorReply(reply)).toEqual(new ServiceError(code as never, 'Wait.'));
});
