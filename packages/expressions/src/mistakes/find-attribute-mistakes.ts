import {
  childPointer,
  closest,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_PROBLEMS,
  shownValue,
  toNfc,
} from '@orrery/contracts';
import { type AttributeShape, compileAttribute } from '../attributes/attribute.js';
import { quoted } from '../messages/error-text.js';
import { type AttributeInTemplate, attributesIn } from '../mutations/changes-in-template.js';
import { readOperator } from '../mutations/mutation.js';
import { PATTERN_WORK, type PatternWork } from '../patterns/pattern.js';
import { foundText } from '../schemas/keywords/validation.js';
import { isPlaceholder } from '../templates/find-placeholders.js';
import type { TemplateReference } from './template-references.js';

/** Operands that an operator takes from no template: `{ "$increment": "x" }`. A placeholder alone may become anything. */
export const findWrongOperands = (template: JsonObject): FieldProblem[] =>
  attributesIn(template).flatMap(wrongOperand);

function wrongOperand({ value, pointer }: AttributeInTemplate): FieldProblem[] {
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

/** Attributes by the name of their schema. */
export type SchemaAttributes = ReadonlyMap<string, readonly AttributeShape[]>;

/**
 * Values of a mutation's template that their attribute refuses in every execution, whatever the placeholders give and
 * whatever the mode: of a wrong type, or written out and outside the bounds, the enum or the pattern. Problems have the
 * codes of `checkState`. Pointers are into the template.
 */
export function findUnfitLiterals(template: JsonObject, schemas: SchemaAttributes): FieldProblem[] {
  const work = { left: PATTERN_WORK };
  return attributesIn(template)
    .flatMap(({ schema = '', name, value, pointer }) => {
      const stored = toNfc(name);
      const attribute = schemas.get(schema)?.find((one) => one.name === stored);
      return attribute ? unfit(attribute, value, pointer, work) : [];
    })
    .slice(0, MAX_PROBLEMS);
}

/** What `$set` takes is checked like a plain value; what the other operators make depends on the current value. */
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

/** The names of attributes by schema. */
export type AttributeNames = ReadonlyMap<string, readonly string[]>;

/** Names that are compared with those of their schema; a template may hold thousands. */
const MAX_COMPARED = 200;

/**
 * Attributes that a template sets or reads and that their schema does not name, where it names one that differs by few
 * letters. A state may hold attributes that its schema does not name, so these are warnings.
 */
export const findMisspeltAttributes = (
  template: JsonObject,
  references: readonly TemplateReference[],
  attributes: AttributeNames,
): FieldProblem[] =>
  [...setIn(template), ...readBy(references)]
    .filter(({ schema, name }) => attributes.get(schema)?.includes(name) === false)
    .slice(0, MAX_COMPARED)
    .flatMap(({ pointer, schema, name }) => {
      const meant = closest(name, attributes.get(schema) ?? []);
      if (meant === undefined) return [];
      const message = `The entity schema "${schema}" has no attribute "${quoted(name)}". Did you mean "${meant}"?`;
      return [fieldProblem(pointer, 'unknown_attribute', message)];
    });

/** An attribute in a template, with names in NFC. */
interface AttributeUse {
  readonly pointer: string;
  readonly schema: string;
  readonly name: string;
}

const setIn = (template: JsonObject): AttributeUse[] =>
  attributesIn(template).flatMap(({ schema, name, pointer }) =>
    schema === undefined || name.includes('{{') || name.startsWith('$')
      ? []
      : [{ pointer, schema, name: toNfc(name) }],
  );

const readBy = (references: readonly TemplateReference[]): AttributeUse[] =>
  references.flatMap(({ root, steps: [schema, , name], pointer }) =>
    root === 'entities' && schema !== undefined && name !== undefined
      ? [{ pointer, schema: toNfc(schema), name: toNfc(name) }]
      : [],
  );
