import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import type { CompiledContract } from './compile-contract.js';
import { SCHEMA_KEYWORDS } from './keyword-shapes.js';
import { resolveReference } from './references.js';
import type { Survey } from './survey-schema.js';

interface Search {
  readonly survey: Survey;
  readonly steps: readonly string[];
  readonly tried: Map<JsonObject, Set<number>>;
}

/**
 * Whether values that fit the contract may have something at a `filter` path. A path that no keyword declares is covered
 * only where the schema is open: a plain object, list or any value, or `additionalProperties` that allows more. Lists are
 * traversed as in `readPath`.
 */
export function contractCoversPath({ schema, survey }: CompiledContract, path: string): boolean {
  return covers(schema, 0, { survey, steps: path.split('.'), tried: new Map() });
}

function covers(schema: JsonValue, at: number, search: Search): boolean {
  if (!isJsonObject(schema)) return schema === true;
  const step = search.steps[at];
  if (step === undefined || isOpen(schema)) return true;
  const tried = search.tried.get(schema) ?? new Set();
  if (tried.has(at)) return false;
  search.tried.set(schema, tried.add(at));
  return (
    sameValue(schema, search.survey).some((next) => covers(next, at, search)) ||
    below(schema, step, search.survey).some((next) => covers(next, at + 1, search))
  );
}

const CLOSING = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'items'];
const CONTAINERS: readonly JsonValue[] = ['object', 'array'];

/** The schema does not restrict what is inside: any JSON, or any object or list. */
function isOpen(schema: JsonObject): boolean {
  const says = Object.keys(schema).some(
    (key) => CLOSING.includes(key) || SCHEMA_KEYWORDS.get(key)?.inPlace === true || key === '$ref',
  );
  const types = [schema['type'] ?? 'object'].flat();
  return !says && !('enum' in schema || 'const' in schema) && types.some((type) => CONTAINERS.includes(type));
}

/** Schemas of the same value; those of a list's elements too, because a path traverses lists. */
function sameValue(schema: JsonObject, survey: Survey): JsonValue[] {
  const { $ref, items, prefixItems, dependentSchemas } = schema;
  const pointer = typeof $ref === 'string' ? resolveReference($ref, survey) : undefined;
  const referred = pointer === undefined ? [] : (survey.schemas.get(pointer) ?? []);
  const combined = ['allOf', 'anyOf', 'oneOf', 'then', 'else'].flatMap((key) => schema[key] ?? []);
  const dependent = isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : [];
  const elements = [items ?? [], prefixItems ?? []].flat();
  return [referred, combined, dependent, elements].flat();
}

/** Schemas of what stands under one step. */
function below(schema: JsonObject, step: string, { patterns }: Survey): JsonValue[] {
  const { properties, patternProperties, prefixItems, items } = schema;
  const named =
    isJsonObject(properties) && Object.hasOwn(properties, step) ? [properties[step] ?? false] : [];
  const patterned = Object.entries(isJsonObject(patternProperties) ? patternProperties : {})
    .filter(([source]) => patterns.get(source)?.test(step))
    .map(([, part]) => part);
  const declared = [...named, ...patterned];
  const elements = /^\d{1,9}$/.test(step) ? [element(prefixItems, items, Number(step))] : [];
  return [...(declared.length > 0 ? declared : additional(schema)), ...elements];
}

function element(prefixItems: JsonValue | undefined, items: JsonValue | undefined, index: number): JsonValue {
  const first = Array.isArray(prefixItems) ? prefixItems[index] : undefined;
  return first ?? items ?? false;
}

const additional = ({ additionalProperties, unevaluatedProperties }: JsonObject): JsonValue[] =>
  [additionalProperties ?? [], unevaluatedProperties ?? []].flat();
