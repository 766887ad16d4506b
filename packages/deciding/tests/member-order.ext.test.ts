import { EVALUATOR } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { findOrderDependent } from '../src/execution/member-order.test-support.js';

it('the order of members changes no outcome, in many more executions', () => {
  expect(findOrderDependent(4_000, EVALUATOR)).toBeUndefined();
});

it('it changed outcomes by the first revision of the rules', () => {
  expect(findOrderDependent(4_000, 1)).toBeDefined();
});
