import { isJsonObject } from '@orrery/contracts';
import type { KeywordCompiler } from '../schema-context.js';
import { attempt, type Check, report, spendOn } from '../validation.js';
import { properties } from './properties.js';

const count =
  (keyword: string, words: string, holds: (count: number, limit: number) => boolean): KeywordCompiler =>
  ({ [keyword]: limit }) => {
    if (typeof limit !== 'number') return undefined;
    const message = `must have ${words} ${limit} keys`;
    return (value, run) =>
      !isJsonObject(value) || holds(Object.keys(value).length, limit) || report(run, 'wrong_length', message);
  };

/** All of `names` must be there; reports each that is not. */
function requireAll(names: readonly string[]): Check {
  return (value, run) => {
    if (!isJsonObject(value)) return true;
    spendOn(run, names.length);
    const missing = names.filter((name) => !Object.hasOwn(value, name));
    for (const name of missing) report(run, 'required', `"${name}" is required`, name);
    return missing.length === 0;
  };
}

const required: KeywordCompiler = ({ required: names }) =>
  Array.isArray(names) && names.length > 0 ? requireAll(names as string[]) : undefined;

/** Rules that hold when a key is there. */
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
    const wrong = Object.keys(value).find((key) => !attempt(run, key, check));
    return (
      wrong === undefined ||
      report(run, 'not_allowed', `the key "${wrong.slice(0, 80)}" is not allowed`, wrong)
    );
  };
};

export const objects: readonly KeywordCompiler[] = [
  required,
  count('minProperties', 'at least', (value, limit) => value >= limit),
  count('maxProperties', 'at most', (value, limit) => value <= limit),
  dependentRequired,
  propertyNames,
  properties,
  dependentSchemas,
];
