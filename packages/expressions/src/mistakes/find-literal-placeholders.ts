import { type FieldProblem, fieldProblem, type JsonObject, type JsonValue } from '@orrery/contracts';
import { type ExpressionParser, expressionParser } from '../cel/compile-expression.js';
import { quoted } from '../messages/error-text.js';
import { attributesIn, changesIn } from '../mutations/changes-in-template.js';
import { findPlaceholders } from '../templates/find-placeholders.js';
import { referencesOf, textsIn } from './template-references.js';

/**
 * Change keys with braces that are no placeholder: `plot:${input.id}` and `plot:{input.id}` would create an instance of
 * this very name. Such a name can still be written, inside a placeholder: `plot:{{ "{x}" }}`.
 */
export const findBracesInKeys = (template: JsonObject): FieldProblem[] =>
  changesIn(template).flatMap(({ key, pointer }) =>
    /[{}]/.test(literalsOf(key)) ? [fieldProblem(pointer, 'invalid_change_key', bracesMessage(key))] : [],
  );

function bracesMessage(key: string): string {
  const meant = key.includes('{{') ? undefined : key.replace(/\$?\{([^{}]+)\}/g, '{{$1}}');
  const advice = meant === undefined || meant === key ? '' : `, as in "${quoted(meant)}"`;
  return `The braces in "${quoted(key)}" are no placeholder. Write placeholders as {{ … }}${advice}.`;
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

const literalKey = (key: string, pointer: string): FieldProblem =>
  fieldProblem(
    pointer,
    'literal_reference',
    `"${quoted(key)}" names an instance of this very name. For a value of the input write {{ … }}, as in ` +
      `"${quoted(key.replace(/((input|entities)[.[][\w.[\]"']*)/, '{{$1}}'))}".`,
  );

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
    return [fieldProblem(pointer, 'no_schema', message)];
  });

/** Attributes of changes whose names are paths, `stats.speed`: no attribute is called so, and nothing inside one changes. */
export const findDottedNames = (template: JsonObject): FieldProblem[] =>
  attributesIn(template).flatMap(({ name, pointer }) => {
    const [attribute = '', ...inner] = name.split('.');
    if (inner.length === 0 || name.includes('{{')) return [];
    const member = inner.join('.');
    const message =
      `"${quoted(name)}" is no path: a value of this very name is stored. To change "${quoted(member)}" inside ` +
      `"${quoted(attribute)}" write "${quoted(attribute)}": { "$merge": { "${quoted(member)}": … } }.`;
    return [fieldProblem(pointer, 'dotted_name', message)];
  });

/** What of a text is written as it stands, without its placeholders. */
function literalsOf(text: string): string {
  const found = findPlaceholders(text);
  if (!found.ok) return '';
  return found.segments.map((segment) => (segment.kind === 'literal' ? segment.text : ' ')).join('');
}
