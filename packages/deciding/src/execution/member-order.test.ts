import { EVALUATOR } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { findOrderDependent } from './member-order.test-support.js';

it('the order of members changes no outcome: no hash covers it, and jsonb does not keep it', () => {
  expect(findOrderDependent(100, EVALUATOR)).toBeUndefined();
});
