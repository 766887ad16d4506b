import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';
import { quoted } from '../error-text.js';
import { changesIn } from '../mutations/changed-schemas.js';
import { findPlaceholders } from '../templates/find-placeholders.js';

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
 * Texts that stand for themselves and look like references: the key `plot:input.id`, the value `${input.id}`. Each may be
 * meant as it is written, so these are warnings.
 */
export const findLiteralReferences = (template: JsonObject): FieldProblem[] =>
  changesIn(template).flatMap(({ key, pointer, change }) => [
    ...(BARE_REFERENCE.test(literalsOf(key)) ? [literalKey(key, pointer)] : []),
    ...literalValues(change, pointer),
  ]);

const BARE_REFERENCE = /(^|[^\w.])(input|entities)[.[]\w/;
const WHOLE_REFERENCE = /^(?:\$?\{\s*)?(?:input|entities)(?:\.\w+|\[[^\]]*\])+\s*\}?$/;
/** Longer texts are no references; patterns are slow on long ones. */
const MAX_REFERENCE = 300;

const literalKey = (key: string, pointer: string): FieldProblem =>
  fieldProblem(
    pointer,
    'literal_reference',
    `"${quoted(key)}" names an instance of this very name. For a value of the input write {{ … }}, as in ` +
      `"${quoted(key.replace(/((input|entities)[.[][\w.[\]"']*)/, '{{$1}}'))}".`,
  );

function literalValues(value: JsonValue, pointer: string): FieldProblem[] {
  if (typeof value === 'string')
    return value.length <= MAX_REFERENCE && WHOLE_REFERENCE.test(value.trim())
      ? [literalValue(value, pointer)]
      : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => literalValues(item, `${pointer}/${index}`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => literalValues(member, childPointer(pointer, key)));
}

const literalValue = (value: string, pointer: string): FieldProblem =>
  fieldProblem(
    pointer,
    'literal_reference',
    `"${quoted(value)}" is stored as this very text. For the value that it names write {{ … }}.`,
  );

/** What of a text is written as it stands, without its placeholders. */
function literalsOf(text: string): string {
  const found = findPlaceholders(text);
  if (!found.ok) return '';
  return found.segments.map((segment) => (segment.kind === 'literal' ? segment.text : ' ')).join('');
}
