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
  writeInstead,
} from '@orrery/contracts';
import { type AttributeShape, compileAttribute } from '../attributes/attribute.js';
import { type ExpressionParser, expressionParser } from '../cel/compile-expression.js';
import { COMPARISONS, comparable } from '../messages/comparisons.js';
import { quoted } from '../messages/error-text.js';
import { type AttributeInTemplate, attributesIn, changesIn } from '../mutations/changes-in-template.js';
import { readOperator } from '../mutations/mutation.js';
import { PATTERN_WORK, type PatternWork, patternCost } from '../patterns/pattern.js';
import { foundText } from '../schemas/keywords/validation.js';
import { findPlaceholders, isPlaceholder } from '../templates/find-placeholders.js';
import { referencesOf, type TemplateReference, textsIn } from './template-references.js';

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
  return [
    fieldProblem(childPointer(pointer, name), 'wrong_operand', message, `Give ${name} ${wanted.words}.`),
  ];
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
type SchemaAttributes = ReadonlyMap<string, readonly AttributeShape[]>;

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

const compiled = new WeakMap<AttributeShape, ReturnType<typeof compileAttribute>>();

/** Of the work on patterns, in instructions × characters, what a unit of compiling one takes. */
const WORK_OF_COST = 0.5;

/**
 * A template may set one attribute ten thousand times, or thousands of attributes once: compiling is charged, too. Undefined:
 * the work is used up.
 */
function compiledOnce(
  attribute: AttributeShape,
  work: PatternWork,
): ReturnType<typeof compileAttribute> | undefined {
  const known = compiled.get(attribute);
  if (known !== undefined) return known;
  const pattern = attribute.constraints?.pattern;
  if (pattern !== undefined) work.left -= patternCost(pattern) * WORK_OF_COST;
  if (work.left < 0) return undefined;
  const made = compileAttribute(attribute);
  compiled.set(attribute, made);
  return made;
}

/** A text around placeholders is a text whatever they give; nothing else is known of it. Null removes the attribute. */
function literalProblems(
  attribute: AttributeShape,
  value: JsonValue,
  pointer: string,
  work: PatternWork,
): FieldProblem[] {
  if (value === null || isPlaceholder(value)) return [];
  const misfit = compiledOnce(attribute, work)?.check(value, work);
  const isOpen = typeof value === 'string' && value.includes('{{');
  if (misfit === undefined || misfit.code === 'too_complex') return [];
  if (isOpen && misfit.code !== 'wrong_type') return [];
  const message = `The attribute "${attribute.name}" ${misfit.message}${foundText(value, true)}`;
  return [fieldProblem(pointer, misfit.code, message)];
}

/** The names of attributes by schema. */
export type AttributeNames = ReadonlyMap<string, readonly string[]>;

/** Names that are compared with those of their schema; a template may hold thousands. */
export const MAX_COMPARED = 200;

/**
 * Attributes that a template sets or reads and that their schema does not name, where it names one that differs by few
 * letters. A state may hold attributes that its schema does not name, so these are warnings.
 */
export const findMisspeltAttributes = (
  template: JsonObject,
  references: readonly TemplateReference[],
  attributes: AttributeNames,
): FieldProblem[] => {
  const compared = { left: COMPARISONS };
  return [...setIn(template), ...readBy(references)]
    .filter(({ schema, name }) => attributes.get(schema)?.includes(name) === false)
    .slice(0, MAX_COMPARED)
    .flatMap(({ pointer, schema, name }) => {
      const meant = closest(name, comparable(attributes.get(schema) ?? [], compared));
      if (meant === undefined) return [];
      const message = `The entity schema "${schema}" has no attribute "${quoted(name)}". Did you mean "${meant}"?`;
      return [fieldProblem(pointer, 'unknown_attribute', message, writeInstead(meant))];
    });
};

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

/**
 * Change keys with braces that are no placeholder: `plot:${input.id}` and `plot:{input.id}` would create an instance of
 * this very name. Such a name can still be written, inside a placeholder: `plot:{{ "{x}" }}`.
 */
export const findBracesInKeys = (template: JsonObject): FieldProblem[] =>
  changesIn(template).flatMap(({ key, pointer }) =>
    /[{}]/.test(literalsOf(key)) ? [bracesIn(key, pointer)] : [],
  );

function bracesIn(key: string, pointer: string): FieldProblem {
  const meant = key.includes('{{') ? key : key.replace(/\$?\{([^{}]+)\}/g, '{{$1}}');
  const advice = meant === key ? '' : `, as in "${quoted(meant)}"`;
  const suggestion = `Write placeholders as {{ … }}${advice}.`;
  const message = `The braces in "${quoted(key)}" are no placeholder. ${suggestion}`;
  return fieldProblem(pointer, 'invalid_change_key', message, suggestion);
}

/**
 * Texts of a mutation that stand for themselves and look like references: the key `plot:input.id`, the values
 * `${input.id}` and `entities.hive.honey + 1`. Each may be meant as it is written, so these are warnings.
 */
export const findLiteralReferences = (template: JsonObject): FieldProblem[] => [
  ...changesIn(template).flatMap(({ key, pointer }) =>
    BARE_REFERENCE.test(literalsOf(key)) ? [literalKey(key, pointer)] : [],
  ),
  ...findLiteralValues(template),
];

/** The values among them, in any template. */
export function findLiteralValues(template: JsonValue): FieldProblem[] {
  const parser = expressionParser();
  return textsIn(template).flatMap(({ text, pointer, isKey }) => {
    const expression = isKey ? undefined : unmarkedExpression(text, parser);
    return expression === undefined ? [] : [literalValue(text, expression, pointer)];
  });
}

const BARE_REFERENCE = /(^|[^\w.])(input|entities)[.[]\w/;
/** Names of templates whose values have members. */
const ROOTS: ReadonlySet<string> = new Set(['input', 'entities', 'cronState']);
/** Longer texts are prose. */
const MAX_EXPRESSION = 300;

function literalKey(key: string, pointer: string): FieldProblem {
  const meant = quoted(key.replace(/((input|entities)[.[][\w.[\]"']*)/, '{{$1}}'));
  const message = `"${quoted(key)}" names an instance of this very name. For a value of the input write {{ … }}, as in "${meant}".`;
  return fieldProblem(pointer, 'literal_reference', message, writeInstead(meant));
}

/** The text as an expression that reads something, without braces of other languages around it. */
function unmarkedExpression(text: string, parser: ExpressionParser): string | undefined {
  if (text.length > MAX_EXPRESSION || text.includes('{{') || !READS_MEMBER.test(text)) return undefined;
  const [, expression = ''] = /^\s*\$?\{([^{}]*)\}\s*$/.exec(text) ?? [undefined, text];
  return referencesOf(expression, parser).some(({ root, steps }) => ROOTS.has(root) && steps.length > 0)
    ? expression.trim()
    : undefined;
}

const READS_MEMBER = /(^|\W)(input|entities|cronState)\s*[.[]/;

const literalValue = (value: string, expression: string, pointer: string): FieldProblem =>
  fieldProblem(
    pointer,
    'literal_reference',
    `"${quoted(value)}" is stored as this very text. For the value that it names write {{ … }}: ` +
      `"{{ ${quoted(expression)} }}".`,
    writeInstead(`{{ ${quoted(expression)} }}`),
  );

/**
 * Change keys of text and placeholders without a colon, `hive{{input.id}}`: only a value that holds the colon could make
 * one of it. They are warnings. A key that is one placeholder alone is the caller's choice.
 */
export const findKeysWithoutSchema = (template: JsonObject): FieldProblem[] =>
  changesIn(template).flatMap(({ key, pointer }) => {
    const written = literalsOf(key).trim();
    if (!key.includes('{{') || written === '' || written.includes(':')) return [];
    const meant = key.replace(/^([^{]+)(\{\{.*)$/s, '$1:$2');
    const advice = meant === key ? '' : `, as in "${quoted(meant)}"`;
    const message = `"${quoted(key)}" names no schema: a key is "schema:instanceId"${advice}.`;
    const suggestion = meant === key ? undefined : writeInstead(quoted(meant));
    return [fieldProblem(pointer, 'no_schema', message, suggestion)];
  });

/** Attributes of changes whose names are paths, `stats.speed`: no attribute is called so, and nothing inside one changes. */
export const findDottedNames = (template: JsonObject): FieldProblem[] =>
  attributesIn(template).flatMap(({ name, pointer }) => {
    const [attribute = '', ...inner] = name.split('.');
    if (inner.length === 0 || name.includes('{{')) return [];
    const member = inner.join('.');
    const meant = `"${quoted(attribute)}": { "$merge": { "${quoted(member)}": … } }`;
    const message =
      `"${quoted(name)}" is no path: a value of this very name is stored. To change "${quoted(member)}" inside ` +
      `"${quoted(attribute)}" write ${meant}.`;
    return [fieldProblem(pointer, 'dotted_name', message, `Write ${meant}.`)];
  });

/** What of a text is written as it stands, without its placeholders. */
function literalsOf(text: string): string {
  const found = findPlaceholders(text);
  if (!found.ok) return '';
  return found.segments.map((segment) => (typeof segment === 'string' ? segment : ' ')).join('');
}
