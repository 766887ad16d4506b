import type { ExecutionError } from '@orrery/contracts';
import { isStateTooLarge } from '../execution/check-changes.js';
import { isFollowUpTooLarge } from '../execution/follow-ups.js';
import { isTooLargeToSearch } from '../execution/search-entities.js';

/** Failures that the rules decide. Any other came from outside: a payment, a deadline. */
const DECIDED: ReadonlySet<string> = new Set([
  'template_failed',
  'operator_type_mismatch',
  'change_not_allowed',
  'invalid_change_key',
  'invalid_state',
  'invalid_result',
  'unknown_entity_schema',
  'invalid_follow_up',
  'read_set_too_large',
]);

/**
 * Earlier releases took the members of every JavaScript object for values: `valueOf: The operator $increment cannot change
 * function valueOf() …`, where the instance had no such attribute.
 */
const isMemberOfAllObjects = ({ code, detail }: ExecutionError): boolean =>
  code === 'operator_type_mismatch' && /^(\w+): The operator \$\w+ cannot change function \1\b/.test(detail);

/** Whether an execution failed for what its entry does not hold, or not by the rules of this release. */
export const isFailedOutside = (error: ExecutionError): boolean =>
  !DECIDED.has(error.code) ||
  isTooLargeToSearch(error) ||
  isStateTooLarge(error) ||
  isFollowUpTooLarge(error) ||
  isMemberOfAllObjects(error);
