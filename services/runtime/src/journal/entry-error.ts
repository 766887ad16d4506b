import {
  cutText,
  type ExecutionError,
  type ServiceError,
  storableObject,
  storableText,
} from '@orrery/contracts';

/** The most characters of a reason, and of its facts as JSON, that an entry holds. */
const MAX_DETAIL = 2000;
const MAX_FACTS = 8000;

/**
 * The reason of a failed execution as it is journalled and answered. Facts that are too large are left out.
 */
export function executionErrorOf({ code, message, facts }: ServiceError): ExecutionError {
  const detail = cutText(storableText(message), MAX_DETAIL - 1);
  const storable = storableObject(facts);
  const { length } = JSON.stringify(storable);
  return length === '{}'.length || length > MAX_FACTS ? { code, detail } : { code, detail, facts: storable };
}
