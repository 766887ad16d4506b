import { canonicalJson, type JsonValue } from '@orrery/contracts';
import { codePointLength } from '../../cel/values/texts.js';
import { quoted } from '../../messages/error-text.js';
import type { Check, KeywordCompiler, Validation } from './validation.js';

/** The JSON Schema type names that a value has; whole numbers have two. */
function hasType(value: JsonValue, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

const type: KeywordCompiler = ({ type: wanted }) => {
  if (wanted === undefined) return undefined;
  const types = [wanted].flat() as string[];
  const [only] = types;
  const message = `The value must be of type ${types.join(' or ')}`;
  if (only !== undefined && types.length === 1)
    return (value, run) => hasType(value, only) || run.reportValue('wrong_type', message, value);
  return (value, run) =>
    types.some((each) => hasType(value, each)) || run.reportValue('wrong_type', message, value);
};

/** Equality by value: scalars by a set, lists and objects by their canonical text. */
function oneOf(allowed: readonly JsonValue[]): (value: JsonValue, run: Validation) => boolean {
  const scalars = new Set<JsonValue>(allowed.filter((value) => typeof value !== 'object' || value === null));
  const texts = new Set(allowed.filter((value) => !scalars.has(value)).map(canonicalJson));
  return (value, run) => {
    if (typeof value !== 'object' || value === null) return scalars.has(value);
    return texts.size > 0 && texts.has(canonicalText(value, run));
  };
}

/** RFC 8785 text of a part of the value, charged by its length. */
export function canonicalText(value: JsonValue, run: Validation): string {
  const text = canonicalJson(value);
  run.spend(text.length * 2);
  return text;
}

const enumeration: KeywordCompiler = ({ enum: allowed }) => {
  if (!Array.isArray(allowed)) return undefined;
  const holds = oneOf(allowed);
  const message = `The value must be one of ${quoted(JSON.stringify(allowed), 200)}`;
  return (value, run) => holds(value, run) || run.reportValue('not_allowed', message, value);
};

const constant: KeywordCompiler = ({ const: wanted }): Check | undefined => {
  if (wanted === undefined) return undefined;
  const holds = oneOf([wanted]);
  const message = `The value must be ${quoted(JSON.stringify(wanted), 200)}`;
  return (value, run) => holds(value, run) || run.reportValue('not_allowed', message, value);
};

const bound =
  (keyword: string, words: string, holds: (value: number, limit: number) => boolean): KeywordCompiler =>
  ({ [keyword]: limit }) => {
    if (typeof limit !== 'number') return undefined;
    const message = `The value must be ${words} ${limit}`;
    return (value, run) =>
      typeof value !== 'number' || holds(value, limit) || run.reportValue('out_of_range', message, value);
  };

/** Decimal fractions are not exact in doubles: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * 4 * Number.EPSILON;
}

const length =
  (keyword: string, words: string, holds: (length: number, limit: number) => boolean): KeywordCompiler =>
  ({ [keyword]: limit }) => {
    if (typeof limit !== 'number') return undefined;
    const message = `The text must have ${words} ${limit} characters`;
    return (value, run) => {
      if (typeof value !== 'string') return true;
      run.spend(value.length >> 4);
      return holds(codePointLength(value), limit) || run.reportValue('wrong_length', message, value);
    };
  };

const pattern: KeywordCompiler = ({ pattern: source }, { survey }) => {
  const compiled = survey.patterns.get(String(source));
  if (source === undefined || compiled === undefined) return undefined;
  const message = `The text must match the pattern ${quoted(compiled.source, 200)}`;
  return (value, run) =>
    typeof value !== 'string' ||
    run.matches(compiled, value) ||
    run.reportValue('pattern_mismatch', message, value);
};

/** Keywords on any value (`type`, `enum`, `const`), on numbers and on texts. */
export const scalars: readonly KeywordCompiler[] = [
  type,
  enumeration,
  constant,
  bound('minimum', 'at least', (value, limit) => value >= limit),
  bound('maximum', 'at most', (value, limit) => value <= limit),
  bound('exclusiveMinimum', 'greater than', (value, limit) => value > limit),
  bound('exclusiveMaximum', 'less than', (value, limit) => value < limit),
  bound('multipleOf', 'a multiple of', isMultiple),
  length('minLength', 'at least', (value, limit) => value >= limit),
  length('maxLength', 'at most', (value, limit) => value <= limit),
  pattern,
];
