import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  type JsonObject,
  type JsonValue,
  MAX_PROBLEMS,
} from '@orrery/contracts';
import {
  childPosition,
  DELETE_OPERATOR,
  isOperatorName,
  OPERATOR_NAMES,
  type Position,
  rootPosition,
} from './mutation.js';

const LESS = ' Write { "$increment": -1 }: a negative number takes away.';
const MEANT: ReadonlyMap<string, string> = new Map([
  ['$inc', ' Write "$increment".'],
  ['$add', ' Write "$increment".'],
  ['$decrement', LESS],
  ['$dec', LESS],
  ['$subtract', LESS],
  ['$push', ' Write "$append".'],
]);

/**
 * What is wrong with the `$…` keys of a direct mutation's template: unknown ones, operators beside other keys, and
 * operators where none can stand (inside an attribute's value; `$set` alone takes any JSON). The template's depth was
 * bounded before.
 */
export function findUnknownOperators(template: JsonValue): FieldProblem[] {
  const problems: FieldProblem[] = [];
  visit(template, rootPosition(template), '', problems);
  return problems.slice(0, MAX_PROBLEMS);
}

function visit(value: JsonValue, position: Position, pointer: string, problems: FieldProblem[]): void {
  if (position === 'free' || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, 'nested', `${pointer}/${index}`, problems);
    return;
  }
  for (const key of Object.keys(value)) {
    const at = childPointer(pointer, key);
    const message = key.startsWith('$') ? complaint(key, value, position) : undefined;
    if (message !== undefined) problems.push(fieldProblem(at, 'unknown_operator', message));
    visit(value[key] ?? null, childPosition(position, key), at, problems);
  }
}

function complaint(key: string, object: JsonObject, position: Position): string | undefined {
  if (position === 'change') return complainOfChange(key, object);
  if (position !== 'attribute')
    return `The operator "${key}" is not allowed here. Operators stand in the place of an attribute.`;
  if (!isOperatorName(key))
    return `The operator "${key}" is not known.${MEANT.get(key) ?? ''} Operators are ${OPERATOR_NAMES.join(', ')}.`;
  if (Object.keys(object).length > 1) return `The operator "${key}" must be the only key of its object.`;
  return key === '$unset' && object[key] !== true ? 'Write the operator as { "$unset": true }.' : undefined;
}

function complainOfChange(key: string, change: JsonObject): string | undefined {
  if (key !== DELETE_OPERATOR)
    return `The operator "${key}" is not allowed in the place of a change. Only ${DELETE_OPERATOR} is.`;
  const isWhole = Object.keys(change).length === 1 && change[key] === true;
  return isWhole ? undefined : `Write a deletion as { "${DELETE_OPERATOR}": true }.`;
}
