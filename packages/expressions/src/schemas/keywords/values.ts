import { canonicalJson, didYouMean, isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { codePointLength } from '../../cel/values/texts.js';
import { comparable } from '../../messages/comparisons.js';
import { quoted } from '../../messages/error-text.js';
import type { Pattern } from '../../patterns/pattern.js';
import type { Check, KeywordCompiler, SchemaContext, Validation } from './validation.js';

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

type Holds = (count: number, limit: number) => boolean;

const countKeys =
  (keyword: string, words: string, holds: Holds): KeywordCompiler =>
  ({ [keyword]: limit }) => {
    if (typeof limit !== 'number') return undefined;
    const message = `The object must have ${words} ${limit} keys.`;
    return (value, run) =>
      !isJsonObject(value) || holds(run.keysOf(value).length, limit) || run.report('wrong_length', message);
  };

const countElements =
  (keyword: string, words: string, holds: Holds): KeywordCompiler =>
  ({ [keyword]: limit }) => {
    if (typeof limit !== 'number') return undefined;
    const message = `The list must have ${words} ${limit} elements.`;
    return (value, run) =>
      !Array.isArray(value) || holds(value.length, limit) || run.report('wrong_length', message);
  };

/** All of `names` must be there; reports each that is not. */
function requireAll(names: readonly string[]): Check {
  return (value, run) => {
    if (!isJsonObject(value)) return true;
    run.spend(names.length * 2);
    const missing = names.filter((name) => !Object.hasOwn(value, name));
    for (const name of missing) run.report('required', `The field "${name}" is required.`, name);
    return missing.length === 0;
  };
}

const required: KeywordCompiler = ({ required: names }) =>
  Array.isArray(names) && names.length > 0 ? requireAll(names as string[]) : undefined;

function whenPresent(written: readonly (readonly [string, Check])[]): Check {
  const ordered = written.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return (value, run) => {
    if (!isJsonObject(value)) return true;
    const rules = run.evaluator === 1 ? written : ordered;
    run.spend(rules.length);
    return rules.filter(([key]) => Object.hasOwn(value, key)).every(([, check]) => check(value, run));
  };
}

const dependentRequired: KeywordCompiler = ({ dependentRequired: map }) =>
  isJsonObject(map)
    ? whenPresent(Object.entries(map).map(([key, names]) => [key, requireAll(names as string[])]))
    : undefined;

const dependentSchemas: KeywordCompiler = ({ dependentSchemas: map }, context) =>
  isJsonObject(map)
    ? whenPresent(Object.entries(map).map(([key, schema]) => [key, context.compile(schema)]))
    : undefined;

const propertyNames: KeywordCompiler = ({ propertyNames: schema }, context) => {
  if (schema === undefined) return undefined;
  const check = context.compile(schema);
  return (value, run) => {
    if (!isJsonObject(value)) return true;
    const wrong = run.keysOf(value).find((key) => !run.fitsQuietly(key, check));
    return (
      wrong === undefined || run.report('not_allowed', `The key "${quoted(wrong)}" is not allowed.`, wrong)
    );
  };
};

/** The three keywords that share out an object's keys among them. */
interface Properties {
  readonly named: ReadonlyMap<string, Check>;
  readonly patterned: readonly (readonly [Pattern, Check])[];
  /** For the keys that neither of the others takes; undefined: they are free. */
  readonly additional: Check | undefined;
}

const properties: KeywordCompiler = (schema, context) => {
  const { properties: named, patternProperties, additionalProperties } = schema;
  if (named === undefined && patternProperties === undefined && additionalProperties === undefined)
    return undefined;
  const parts: Properties = {
    named: new Map(entriesOf(named, context)),
    patterned: entriesOf(patternProperties, context).flatMap(([source, check]) =>
      withPattern(source, check, context),
    ),
    additional: additionalOf(additionalProperties, Object.keys(isJsonObject(named) ? named : {}), context),
  };
  return (value, run) => !isJsonObject(value) || checkProperties(value, parts, run);
};

function entriesOf(map: JsonValue | undefined, context: SchemaContext): [string, Check][] {
  if (!isJsonObject(map)) return [];
  return Object.entries(map).map(([key, schema]) => [key, context.compile(schema)]);
}

/** The survey has compiled every pattern before. */
function withPattern(source: string, check: Check, { survey }: SchemaContext): [Pattern, Check][] {
  const pattern = survey.patterns.get(source);
  return pattern === undefined ? [] : [[pattern, check]];
}

function additionalOf(
  schema: JsonValue | undefined,
  declared: readonly string[],
  context: SchemaContext,
): Check | undefined {
  if (schema === undefined) return undefined;
  return schema === false ? undeclaredBeside(declared) : context.compile(schema);
}

/** Longer lists are not repeated in a message. */
const MAX_LISTED = 12;

/** Refuses a field that is none of the declared ones. */
export const undeclaredBeside =
  (declared: readonly string[]): Check =>
  (_, run) =>
    run.problems === null ? false : run.report('undeclared', undeclared(run, declared));

function undeclared({ path, showsValues, comparisons }: Validation, declared: readonly string[]): string {
  const key = path.at(-1);
  if (typeof key !== 'string') return 'The element is not declared.';
  if (!showsValues) return 'The field is not declared.';
  const meant = didYouMean(key, comparable(declared, comparisons));
  const isShort = declared.length > 0 && declared.length <= MAX_LISTED;
  const all = meant === '' && isShort ? ` Declared here: ${quoted(declared.join(', '), 300)}.` : '';
  return `The field "${quoted(key)}" is not declared.${meant}${all}`;
}

/** Reading a property and finding the schemas for it. */
const PROPERTY_COST = 2;

function checkProperties(object: JsonObject, parts: Properties, run: Validation): boolean {
  const keys = run.keysOf(object);
  run.spend(keys.length * PROPERTY_COST);
  let ok = true;
  for (const key of keys) {
    if (!checkProperty(key, object[key] ?? null, parts, run)) ok = false;
    if (!ok && run.problems === null) break;
  }
  return ok;
}

function checkProperty(key: string, value: JsonValue, parts: Properties, run: Validation): boolean {
  const { named, patterned, additional } = parts;
  const own = named.get(key);
  let ok = own === undefined || run.descend(key, value, own);
  let taken = own !== undefined;
  for (const [pattern, check] of patterned) {
    if (!run.matches(pattern, key)) continue;
    taken = true;
    if (!run.descend(key, value, check)) ok = false;
  }
  if (!taken && additional !== undefined && !run.descend(key, value, additional)) ok = false;
  return ok;
}

export const objects: readonly KeywordCompiler[] = [
  required,
  countKeys('minProperties', 'at least', (value, limit) => value >= limit),
  countKeys('maxProperties', 'at most', (value, limit) => value <= limit),
  dependentRequired,
  propertyNames,
  properties,
  dependentSchemas,
];

/** Writing an element canonically and finding it among the others, its length apart. */
const DISTINCT_COST = 4;

const uniqueItems: KeywordCompiler = ({ uniqueItems: wanted }) => {
  if (wanted !== true) return undefined;
  return (value, run) => {
    if (!Array.isArray(value)) return true;
    run.spend(value.length * DISTINCT_COST);
    const different = new Set(value.map((item) => canonicalText(item, run)));
    return (
      different.size === value.length ||
      run.report('not_unique', 'The elements of the list must be different.')
    );
  };
};

/** `prefixItems` for the first elements, `items` for the rest. */
const items: KeywordCompiler = ({ prefixItems, items: rest }, context) => {
  if (prefixItems === undefined && rest === undefined) return undefined;
  const first = Array.isArray(prefixItems) ? prefixItems.map((item) => context.compile(item)) : [];
  const other = rest === undefined ? undefined : context.compile(rest);
  return (value, run) => {
    if (!Array.isArray(value)) return true;
    run.spend(other === undefined ? first.length : value.length);
    let ok = true;
    for (const [index, item] of value.entries()) {
      const check = first[index] ?? other;
      if (check === undefined) break;
      if (!run.descend(index, item, check)) ok = false;
      if (!ok && run.problems === null) break;
    }
    return ok;
  };
};

const contains: KeywordCompiler = ({ contains: wanted, minContains = 1, maxContains }, context) => {
  if (wanted === undefined) return undefined;
  const check = context.compile(wanted);
  const most = typeof maxContains === 'number' ? maxContains : Number.POSITIVE_INFINITY;
  const message = `The list must have at least ${minContains}${most < Number.POSITIVE_INFINITY ? ` and at most ${most}` : ''} fitting elements.`;
  return (value, run) => {
    if (!Array.isArray(value)) return true;
    const found = value.filter((item, index) => fits(run, index, item, check)).length;
    return (found >= Number(minContains) && found <= most) || run.report('wrong_length', message);
  };
};

/** Only the elements that fit count as evaluated. */
function fits(run: Validation, index: number, item: JsonValue, check: Check): boolean {
  const { seen } = run;
  run.seen = undefined;
  const ok = run.fitsQuietly(item, check);
  run.seen = seen;
  if (ok) seen?.add(index);
  return ok;
}

export const lists: readonly KeywordCompiler[] = [
  countElements('minItems', 'at least', (value, limit) => value >= limit),
  countElements('maxItems', 'at most', (value, limit) => value <= limit),
  uniqueItems,
  items,
  contains,
];
