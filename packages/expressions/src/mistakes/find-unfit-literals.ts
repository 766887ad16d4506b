import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_PROBLEMS,
  toNfc,
} from '@orrery/contracts';
import { type AttributeShape, compileAttribute } from '../attributes/attribute.js';
import { changesIn } from '../mutations/changed-schemas.js';
import { readOperator } from '../mutations/mutation.js';
import { PATTERN_WORK, type PatternWork } from '../patterns/pattern.js';
import { foundText } from '../schemas/keywords/validation.js';
import { isPlaceholder } from './find-wrong-operands.js';

/** Attributes by the name of their schema. */
export type SchemaAttributes = ReadonlyMap<string, readonly AttributeShape[]>;

/**
 * Values of a mutation's template that their attribute refuses in every execution, whatever the placeholders give and
 * whatever the mode: of a wrong type, or written out and outside the bounds, the enum or the pattern. Problems have the
 * codes of `checkState`. Pointers are into the template.
 */
export function findUnfitLiterals(template: JsonObject, schemas: SchemaAttributes): FieldProblem[] {
  const work = { left: PATTERN_WORK };
  return changesIn(template)
    .flatMap(({ schema, change, pointer }) =>
      schema === undefined || !isJsonObject(change)
        ? []
        : Object.entries(change).flatMap(([name, value]) => {
            const stored = toNfc(name);
            const attribute = schemas.get(schema)?.find((one) => one.name === stored);
            return attribute ? unfit(attribute, value, childPointer(pointer, name), work) : [];
          }),
    )
    .slice(0, MAX_PROBLEMS);
}

/** What `$set` takes is looked at like a plain value; what the other operators make depends on the current value. */
function unfit(
  attribute: AttributeShape,
  value: JsonValue,
  pointer: string,
  work: PatternWork,
): FieldProblem[] {
  const operator = readOperator(value);
  if (operator === undefined) return literalProblems(attribute, value, pointer, work);
  const { name, operand } = operator;
  return name === '$set' ? literalProblems(attribute, operand, childPointer(pointer, name), work) : [];
}

/** A text around placeholders is a text whatever they give; nothing else is known of it. Null removes the attribute. */
function literalProblems(
  attribute: AttributeShape,
  value: JsonValue,
  pointer: string,
  work: PatternWork,
): FieldProblem[] {
  if (value === null || isPlaceholder(value)) return [];
  const misfit = compileAttribute(attribute).check(value, work);
  const isOpen = typeof value === 'string' && value.includes('{{');
  if (misfit === undefined || misfit.code === 'too_complex') return [];
  if (isOpen && misfit.code !== 'wrong_type') return [];
  const message = `The attribute "${attribute.name}" ${misfit.message}${foundText(value, true)}`;
  return [fieldProblem(pointer, misfit.code, message)];
}
