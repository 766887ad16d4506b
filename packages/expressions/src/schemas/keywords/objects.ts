import { didYouMean, isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { quoted } from '../../messages/error-text.js';
import type { Pattern } from '../../patterns/pattern.js';
import { matches } from './scalars.js';
import type { KeywordCompiler, SchemaContext } from './validation.js';
import { type Check, descend, fitsQuietly, keysOf, report, spendOn, type Validation } from './validation.js';

const count =
  (keyword: string, words: string, holds: (count: number, limit: number) => boolean): KeywordCompiler =>
  ({ [keyword]: limit }) => {
    if (typeof limit !== 'number') return undefined;
    const message = `The object must have ${words} ${limit} keys.`;
    return (value, run) =>
      !isJsonObject(value) || holds(keysOf(run, value).length, limit) || report(run, 'wrong_length', message);
  };

/** All of `names` must be there; reports each that is not. */
function requireAll(names: readonly string[]): Check {
  return (value, run) => {
    if (!isJsonObject(value)) return true;
    spendOn(run, names.length * 2);
    const missing = names.filter((name) => !Object.hasOwn(value, name));
    for (const name of missing) report(run, 'required', `The field "${name}" is required.`, name);
    return missing.length === 0;
  };
}

const required: KeywordCompiler = ({ required: names }) =>
  Array.isArray(names) && names.length > 0 ? requireAll(names as string[]) : undefined;

function whenPresent(rules: readonly (readonly [string, Check])[]): Check {
  return (value, run) => {
    if (!isJsonObject(value)) return true;
    spendOn(run, rules.length);
    return rules.filter(([key]) => Object.hasOwn(value, key)).every(([, check]) => check(value, run));
  };
}

const dependentRequired: KeywordCompiler = ({ dependentRequired: map }) =>
  isJsonObject(map)
    ? whenPresent(Object.entries(map).map(([key, names]) => [key, requireAll(names as string[])]))
    : undefined;

const dependentSchemas: KeywordCompiler = ({ dependentSchemas: map }, context) =>
  isJsonObject(map)
    ? whenPresent(Object.entries(map).map(([key, schema]) => [key, context.compile(schema, context)]))
    : undefined;

const propertyNames: KeywordCompiler = ({ propertyNames: schema }, context) => {
  if (schema === undefined) return undefined;
  const check = context.compile(schema, context);
  return (value, run) => {
    if (!isJsonObject(value)) return true;
    const wrong = keysOf(run, value).find((key) => !fitsQuietly(run, key, check));
    return (
      wrong === undefined || report(run, 'not_allowed', `The key "${quoted(wrong)}" is not allowed.`, wrong)
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
  return Object.entries(map).map(([key, schema]) => [key, context.compile(schema, context)]);
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
  return schema === false ? undeclaredBeside(declared) : context.compile(schema, context);
}

/** Longer lists are not repeated in a message. */
const MAX_LISTED = 12;

/** Refuses a field that is none of the declared ones. */
export const undeclaredBeside =
  (declared: readonly string[]): Check =>
  (_, run) =>
    run.problems === null ? false : report(run, 'undeclared', undeclared(run, declared));

function undeclared({ path, showsValues }: Validation, declared: readonly string[]): string {
  const key = path.at(-1);
  if (typeof key !== 'string') return 'The element is not declared.';
  if (!showsValues) return 'The field is not declared.';
  const meant = didYouMean(key, declared);
  const isShort = declared.length > 0 && declared.length <= MAX_LISTED;
  const all = meant === '' && isShort ? ` Declared here: ${quoted(declared.join(', '), 300)}.` : '';
  return `The field "${quoted(key)}" is not declared.${meant}${all}`;
}

/** Reading a property and finding the schemas for it. */
const PROPERTY_COST = 2;

function checkProperties(object: JsonObject, parts: Properties, run: Validation): boolean {
  const keys = keysOf(run, object);
  spendOn(run, keys.length * PROPERTY_COST);
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
  let ok = own === undefined || descend(run, key, value, own);
  let taken = own !== undefined;
  for (const [pattern, check] of patterned) {
    if (!matches(pattern, key, run)) continue;
    taken = true;
    if (!descend(run, key, value, check)) ok = false;
  }
  if (!taken && additional !== undefined && !descend(run, key, value, additional)) ok = false;
  return ok;
}

export const objects: readonly KeywordCompiler[] = [
  required,
  count('minProperties', 'at least', (value, limit) => value >= limit),
  count('maxProperties', 'at most', (value, limit) => value <= limit),
  dependentRequired,
  propertyNames,
  properties,
  dependentSchemas,
];
