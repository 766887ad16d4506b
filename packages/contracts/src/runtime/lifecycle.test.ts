import { expect, it } from 'vitest';
import { INNER_KINDS, isLifecycleKind, LIFECYCLE_KINDS } from './lifecycle.js';

it('takes no kind of a later release for a lifecycle entry', () => {
  expect(LIFECYCLE_KINDS.every(isLifecycleKind)).toBe(true);
  expect([...INNER_KINDS, 'of_a_later_release'].some(isLifecycleKind)).toBe(false);
});
