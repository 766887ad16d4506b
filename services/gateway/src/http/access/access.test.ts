import { ServiceError } from '@orrery/contracts';
import { expect, it, vi } from 'vitest';
import { failClosed } from './access.js';

it.each([
  ['an error as it is', new ServiceError('key_not_found'), { code: 'key_not_found' }],
  ['nothing as an error', undefined, { code: 'internal' }],
  ['a text as an error', 'no', { code: 'internal', cause: 'no' }],
])('passes %s on: a guard that rejects never lets a request pass', (_what, rejection, expected) => {
  const done = vi.fn<(error: Error) => void>();
  failClosed(done)(rejection);
  const [[passed]] = done.mock.calls as [[unknown]];
  expect(passed).toBeInstanceOf(Error);
  expect(passed).toMatchObject(expected);
});
