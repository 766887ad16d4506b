import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import type { Pattern } from '../../patterns/compile-pattern.js';
import type { KeywordCompiler, SchemaContext } from '../schema-context.js';
import { type Check, descend, report, spendOn, type Validation } from '../validation.js';
import { matches } from './texts.js';

/** The three keywords that share out an object's keys among them. */
interface Properties {
  readonly named: ReadonlyMap<string, Check>;
  readonly patterned: readonly (readonly [Pattern, Check])[];
  /** For the keys that neither of the others takes; undefined: they are free. */
  readonly additional: Check | undefined;
}

export const properties: KeywordCompiler = (schema, context) => {
  const { properties: named, patternProperties, additionalProperties } = schema;
  if (named === undefined && patternProperties === undefined && additionalProperties === undefined)
    return undefined;
  const parts: Properties = {
    named: new Map(entriesOf(named, context)),
    patterned: entriesOf(patternProperties, context).flatMap(([source, check]) =>
      withPattern(source, check, context),
    ),
    additional: additionalOf(additionalProperties, context),
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

const undeclared: Check = (_, run) => report(run, 'undeclared', 'is not declared');

function additionalOf(schema: JsonValue | undefined, context: SchemaContext): Check | undefined {
  if (schema === undefined) return undefined;
  return schema === false ? undeclared : context.compile(schema, context);
}

function checkProperties(object: JsonObject, parts: Properties, run: Validation): boolean {
  const keys = Object.keys(object);
  spendOn(run, keys.length);
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
