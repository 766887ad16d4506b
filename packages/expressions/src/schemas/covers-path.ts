import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { type Pattern, type PatternWork, testWithin } from '../patterns/pattern.js';
import type { CompiledContract } from './compile-contract.js';
import { SCHEMA_KEYWORDS, type Survey } from './survey/survey-schema.js';

/** The first step of a path that nothing declares, and the names that are declared in its place. */
export interface MissingStep {
  readonly index: number;
  readonly declared: readonly string[];
}

/**
 * What of a `filter` path the contract does not declare; undefined where values that fit may have something there. A path
 * that no keyword declares is covered only where the schema is open: a plain object, list or any value, or
 * `additionalProperties` that allows more. Lists are traversed as by executions.
 */
export function undeclaredStep(
  contract: CompiledContract,
  path: string,
  work: PatternWork = coverWork(),
): MissingStep | undefined {
  const { isCovered, index, applied } = reach(contract, path.split('.'), work);
  return isCovered ? undefined : { index, declared: applied.flatMap(declaredIn) };
}

/**
 * What of some steps into a value no value that fits the contract can hold. Objects that JSON Schema leaves open may hold
 * keys that nothing declares.
 */
export function firstMissingStep(
  contract: CompiledContract,
  steps: readonly string[],
  work: PatternWork = coverWork(),
): MissingStep | undefined {
  const { isCovered, index, starts, applied } = reach(contract, steps, work);
  const isPossible = () => !starts.every((schema) => refusesKey(schema, contract.survey));
  return isCovered || isPossible() ? undefined : { index, declared: applied.flatMap(declaredIn) };
}

interface Reached {
  readonly isCovered: boolean;
  readonly index: number;
  /** The schemas that the value before this step has, and those that apply to the same value. */
  readonly starts: readonly JsonValue[];
  readonly applied: readonly JsonObject[];
}

/** What one schema costs that applies to a value on the way, in the work of patterns: some 3 µs. */
const SCHEMA_WORK = 150;

/** What the paths of one version may take together: 50,000 schemas, some 150 ms at worst. What is left unchecked counts as covered. */
export const coverWork = (): PatternWork => ({ left: 50_000 * SCHEMA_WORK });

/** Goes down one step at a time, with all schemas that the value there may have. */
function reach({ schema, survey }: CompiledContract, steps: readonly string[], work: PatternWork): Reached {
  let starts: JsonValue[] = [schema];
  for (const [index, step] of steps.entries()) {
    const applied = work.left > 0 ? ofSameValue(starts, survey) : [];
    work.left -= applied.length * SCHEMA_WORK;
    if (work.left <= 0 || starts.includes(true) || applied.some(isOpen))
      return { isCovered: true, index, starts, applied };
    const next = applied.flatMap((one) => below(one, step, survey, work)).filter((one) => one !== false);
    if (next.length === 0) return { isCovered: false, index, starts, applied };
    starts = [...new Set(next)];
  }
  return { isCovered: true, index: steps.length, starts, applied: [] };
}

/** The schemas and all that apply to the same value, or to the elements of a list, which paths traverse. */
function ofSameValue(schemas: readonly JsonValue[], survey: Survey): JsonObject[] {
  const found = new Set<JsonObject>();
  const open = [...schemas];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (!isJsonObject(one) || found.has(one)) continue;
    found.add(one);
    open.push(...sameValue(one, survey));
  }
  return [...found];
}

const CLOSING = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'items'];
const CONTAINERS: readonly JsonValue[] = ['object', 'array'];

const typesOf = (schema: JsonObject): JsonValue[] => [schema['type'] ?? 'object'].flat();

/** The schema does not restrict what is inside: any JSON, or any object or list. */
function isOpen(schema: JsonObject): boolean {
  const says = Object.keys(schema).some(
    (key) => CLOSING.includes(key) || SCHEMA_KEYWORDS.get(key)?.inPlace === true || key === '$ref',
  );
  const isListed = 'enum' in schema || 'const' in schema;
  return !says && !isListed && typesOf(schema).some((type) => CONTAINERS.includes(type));
}

/** Schemas of the same value; those of a list's elements too, because a path traverses lists. */
function sameValue(schema: JsonObject, survey: Survey): JsonValue[] {
  const { items, prefixItems, dependentSchemas } = schema;
  const combined = ['anyOf', 'oneOf', 'if', 'then', 'else'].flatMap((key) => schema[key] ?? []);
  const dependent = isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : [];
  const elements = [items ?? [], prefixItems ?? []].flat();
  return [...survey.alsoHolding(schema), combined, dependent, elements].flat();
}

/** Whether no value of the schema holds a key that nothing declares. */
function refusesKey(schema: JsonValue, survey: Survey, seen = new Set<JsonValue>()): boolean {
  if (!isJsonObject(schema) || seen.has(schema)) return schema === false;
  seen.add(schema);
  const isClosed = schema['additionalProperties'] === false || schema['unevaluatedProperties'] === false;
  if (isClosed || !typesOf(schema).includes('object')) return true;
  return survey.alsoHolding(schema).some((one) => refusesKey(one, survey, seen));
}

const declaredIn = ({ properties }: JsonObject): string[] =>
  isJsonObject(properties) ? Object.keys(properties) : [];

/** Schemas of what stands under one step. */
function below(schema: JsonObject, step: string, { patterns }: Survey, work: PatternWork): JsonValue[] {
  const { properties, patternProperties, prefixItems, items } = schema;
  const named =
    isJsonObject(properties) && Object.hasOwn(properties, step) ? [properties[step] ?? false] : [];
  const patterned = Object.entries(isJsonObject(patternProperties) ? patternProperties : {})
    .filter(([source]) => matches(patterns.get(source), step, work))
    .map(([, part]) => part);
  const declared = [...named, ...patterned];
  const elements = /^\d{1,9}$/.test(step) ? [element(prefixItems, items, Number(step))] : [];
  return [...(declared.length > 0 ? declared : additional(schema)), ...elements];
}

/** A pattern that there is no work left for may match. */
const matches = (pattern: Pattern | undefined, step: string, work: PatternWork): boolean =>
  pattern !== undefined && testWithin(pattern, step, work) !== false;

function element(prefixItems: JsonValue | undefined, items: JsonValue | undefined, index: number): JsonValue {
  const first = Array.isArray(prefixItems) ? prefixItems[index] : undefined;
  return first ?? items ?? false;
}

const additional = ({ additionalProperties, unevaluatedProperties }: JsonObject): JsonValue[] =>
  [additionalProperties ?? [], unevaluatedProperties ?? []].flat();
