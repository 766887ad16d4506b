import { expect, it } from 'vitest';
import { INNER_KINDS, LIFECYCLE_KINDS } from './lifecycle.js';

it('takes no kind of a later release for a lifecycle entry', () => {
  const isLifecycle = (kind: string) => LIFECYCLE_KINDS.has(kind);
  expect(['deployment_created', 'locked', 'tail_lost', 'deleted'].every(isLifecycle)).toBe(true);
  expect([...INNER_KINDS, 'of_a_later_release'].some(isLifecycle)).toBe(false);
});
