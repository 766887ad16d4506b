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
