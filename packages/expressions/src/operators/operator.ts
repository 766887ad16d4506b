import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { DELETE_OPERATOR, isOperatorName, type OperatorName } from './operator-names.js';

/** An operator as it stands in a change: `{ "$increment": 1 }`. */
export interface Operator {
  name: OperatorName;
  operand: JsonValue;
}

/**
 * Reads an attribute's value in an evaluated direct mutation: the operator that it is, or undefined for a plain value.
 * `compileTemplate` with `mutation` has made sure that only the template's author can have written one; do not use it
 * on anything else (a model's proposal has no operators).
 */
export function readOperator(value: JsonValue): Operator | undefined {
  if (!isJsonObject(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  if (name === undefined || others.length > 0 || !isOperatorName(name)) return undefined;
  return { name, operand: value[name] ?? null };
}

/** Is the change `{ "$delete": true }`, the removal of its instance? */
export const isDeletion = (change: JsonObject): boolean =>
  change[DELETE_OPERATOR] === true && Object.keys(change).length === 1;
