import { canonicalJson, type JsonValue } from '@orrery/contracts';
import type { KeywordCompiler } from '../schema-context.js';
import { type Check, report, spendOn, type Validation } from '../validation.js';

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
  const message = `must be of type ${types.join(' or ')}`;
  if (only !== undefined && types.length === 1)
    return (value, run) => hasType(value, only) || report(run, 'wrong_type', message);
  return (value, run) => types.some((each) => hasType(value, each)) || report(run, 'wrong_type', message);
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

/** RFC 8785 text of a part of the value, paid by its length. */
export function canonicalText(value: JsonValue, run: Validation): string {
  const text = canonicalJson(value);
  spendOn(run, text.length >> 2);
  return text;
}

const enumeration: KeywordCompiler = ({ enum: allowed }) => {
  if (!Array.isArray(allowed)) return undefined;
  const holds = oneOf(allowed);
  const message = `must be one of ${JSON.stringify(allowed).slice(0, 200)}`;
  return (value, run) => holds(value, run) || report(run, 'not_allowed', message);
};

const constant: KeywordCompiler = ({ const: wanted }): Check | undefined => {
  if (wanted === undefined) return undefined;
  const holds = oneOf([wanted]);
  const message = `must be ${JSON.stringify(wanted).slice(0, 200)}`;
  return (value, run) => holds(value, run) || report(run, 'not_allowed', message);
};

export const values: readonly KeywordCompiler[] = [type, enumeration, constant];
