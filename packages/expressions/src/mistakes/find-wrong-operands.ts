import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  shownValue,
} from '@orrery/contracts';
import { changesIn } from '../mutations/changed-schemas.js';
import { readOperator } from '../mutations/mutation.js';
import { findPlaceholders } from '../templates/find-placeholders.js';

/** Operands that an operator takes from no template: `{ "$increment": "x" }`. A placeholder alone may become anything. */
export const findWrongOperands = (template: JsonObject): FieldProblem[] =>
  changesIn(template).flatMap(({ change, pointer }) =>
    isJsonObject(change)
      ? Object.entries(change).flatMap(([name, value]) => checkOperand(value, childPointer(pointer, name)))
      : [],
  );

function checkOperand(value: JsonValue, pointer: string): FieldProblem[] {
  const operator = readOperator(value);
  if (operator === undefined || isPlaceholder(operator.operand)) return [];
  const { name, operand } = operator;
  const wanted = WANTED[name];
  if (wanted === undefined || wanted.fits(operand)) return [];
  const message = `The operator ${name} takes ${wanted.words}, not ${shownValue(operand)}.`;
  return [fieldProblem(childPointer(pointer, name), 'wrong_operand', message)];
}

interface Wanted {
  readonly words: string;
  fits(operand: JsonValue): boolean;
}

const WANTED: Readonly<Record<string, Wanted>> = {
  $increment: {
    words: 'a number, or one placeholder alone such as "{{ input.amount }}"',
    fits: (operand) => typeof operand === 'number' || operand === null || operand === true,
  },
  $merge: { words: 'an object, or one placeholder alone such as "{{ input.parts }}"', fits: isJsonObject },
};

/** One placeholder and nothing beside it: it keeps its JSON type. */
export function isPlaceholder(value: JsonValue): boolean {
  if (typeof value !== 'string') return false;
  const found = findPlaceholders(value);
  return found.ok && found.segments.length === 1 && found.segments[0]?.kind === 'placeholder';
}
