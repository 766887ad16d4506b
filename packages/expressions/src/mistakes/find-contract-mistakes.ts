import {
  childPointer,
  didYouMean,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';
import { quoted } from '../messages/error-text.js';
import { type CompiledContract, compileSchema, isJsonSchema } from '../schemas/compile-contract.js';
import { type Check, type CheckBudget, checkAgainst, checkBudget } from '../schemas/keywords/validation.js';
import { alsoHolding, type Survey } from '../schemas/survey/survey-schema.js';
import { isPlaceholder } from '../templates/find-placeholders.js';
import type { NameKinds } from '../templates/template-names.js';

/**
 * What a short map says and cannot mean: `"laps?": "integer"` declares a field that is called `laps?`, and
 * `{ "type": "object" }` a field that is called `type`.
 */
export function findContractMistakes(source: JsonObject): FieldProblem[] {
  if (isJsonSchema(source)) return [];
  return isBareObject(source) ? [BARE_OBJECT] : questionMarks(source, '');
}

const isBareObject = (source: JsonObject): boolean =>
  source['type'] === 'object' && Object.keys(source).length === 1;

const BARE_OBJECT = fieldProblem(
  '',
  'invalid_schema',
  'This is a short map with one field that is called "type". For an object without fields write {}; for a JSON Schema ' +
    'add "properties": { "type": "object", "properties": { … } }; for any object leave the contract out.',
);

const questionMarks = (map: JsonObject, pointer: string): FieldProblem[] =>
  Object.entries(map).flatMap(([name, field]) => {
    const at = childPointer(pointer, name);
    const own = name.endsWith('?') ? [fieldProblem(at, 'invalid_schema', markMessage(name, field))] : [];
    return [...own, ...(isJsonObject(field) ? questionMarks(field, at) : [])];
  });

function markMessage(name: string, field: JsonValue): string {
  const spelling =
    typeof field === 'string'
      ? `"${quoted(name.slice(0, -1))}": "${quoted(field.replace(/\?$/, ''))}?"`
      : undefined;
  const advice = spelling ?? 'a nested map cannot be optional; JSON Schema can say this';
  return `The "?" of an optional field stands behind its type: ${advice}.`;
}

/**
 * Nested maps whose only field is called `type`: JSON Schema's way to write a type, which in a short map declares a field
 * of this name. It may be meant, so these are warnings.
 */
export const findNestedTypes = (source: JsonObject): FieldProblem[] =>
  isJsonSchema(source) ? [] : nestedTypes(source, '');

const nestedTypes = (map: JsonObject, pointer: string): FieldProblem[] =>
  Object.entries(map).flatMap(([name, field]) => {
    if (!isJsonObject(field)) return [];
    const at = childPointer(pointer, name);
    const { type } = field;
    if (typeof type !== 'string' || Object.keys(field).length > 1) return nestedTypes(field, at);
    const message = `This is a nested map with one field that is called "type". For a field of this type write "${quoted(name)}": "${quoted(type)}".`;
    return [fieldProblem(at, 'nested_type', message)];
  });

/**
 * The rules of a contract that a template breaks whatever its placeholders give. Parts without placeholders are checked
 * in full. Of the others only `type`, `required`, `properties`, `additionalProperties`, `items`, `$ref` and `allOf` are
 * read; what other keywords say depends on the values.
 */
export const findCertainRefusals = (
  template: JsonObject,
  contract: CompiledContract,
  kinds: NameKinds,
): FieldProblem[] =>
  problemsIn(template, contract.schema, {
    pointer: '',
    search: {
      kinds,
      survey: contract.survey,
      seen: new Map(),
      checks: new Map(),
      budget: checkBudget(),
      failures: 0,
    },
  });

/** What is shared by all parts of one template: schemas may refer to the same ones over and over. */
interface Search {
  readonly kinds: NameKinds;
  readonly survey: Survey;
  /** Pointers of the values that a schema has been applied to. */
  readonly seen: Map<JsonValue, Set<string>>;
  readonly checks: Map<JsonValue, Check>;
  readonly budget: CheckBudget;
  failures: number;
}

/** Values with problems of their own that are looked for. */
const MAX_FAILURES = 20;

interface Part {
  readonly pointer: string;
  readonly search: Search;
}

function problemsIn(value: JsonValue, schema: JsonValue, part: Part): FieldProblem[] {
  if (isKnown(schema, part)) return [];
  if (!hasPlaceholder(value)) return checked(value, schema, part);
  if (!isJsonObject(schema)) return [];
  return [
    ...wrongType(value, schema, part),
    ...(Array.isArray(value) ? inList(value, schema, part) : []),
    ...(isJsonObject(value) ? inObject(value, schema, part) : []),
    ...alsoHolding(schema, part.search.survey).flatMap((one) => problemsIn(value, one, part)),
  ];
}

function isKnown(schema: JsonValue, { pointer, search: { seen } }: Part): boolean {
  const pointers = seen.get(schema) ?? new Set();
  if (pointers.has(pointer)) return true;
  seen.set(schema, pointers.add(pointer));
  return false;
}

const hasPlaceholder = (value: JsonValue): boolean => JSON.stringify(value).includes('{{');

/** What takes too long to check is left to the executions. */
function checked(value: JsonValue, schema: JsonValue, { pointer, search }: Part): FieldProblem[] {
  const { survey, checks, budget } = search;
  if (search.failures >= MAX_FAILURES) return [];
  const check = checks.get(schema) ?? compileSchema(schema, survey);
  checks.set(schema, check);
  const problems = checkAgainst({ check }, value, { budget });
  if (problems.length > 0) search.failures += 1;
  return problems
    .filter(({ code }) => code !== 'too_complex')
    .map((problem) => ({ ...problem, pointer: `${pointer}${problem.pointer}` }));
}

/** The JSON type that the value will have; undefined where it depends. */
function kindOf(value: JsonValue, kinds: NameKinds): string | undefined {
  if (typeof value !== 'string') return Array.isArray(value) ? 'array' : 'object';
  return isPlaceholder(value) ? kinds[value.slice(2, -2).trim()] : 'string';
}

function wrongType(value: JsonValue, { type }: JsonObject, { pointer, search }: Part): FieldProblem[] {
  const kind = kindOf(value, search.kinds);
  const allowed = [type ?? []].flat();
  if (kind === undefined || allowed.length === 0 || allowed.includes(kind)) return [];
  if (kind === 'integer' && allowed.includes('number')) return [];
  const shown = typeof value === 'string' ? `"${quoted(value)}" gives` : 'this is';
  const message = `The value must be of type ${allowed.join(' or ')}; ${shown} the type ${kind}.`;
  return [fieldProblem(pointer, 'wrong_type', message)];
}

function inList(list: readonly JsonValue[], { prefixItems, items }: JsonObject, part: Part): FieldProblem[] {
  const first = Array.isArray(prefixItems) ? prefixItems : [];
  return list.flatMap((item, index) =>
    problemsIn(item, first[index] ?? items ?? true, { ...part, pointer: `${part.pointer}/${index}` }),
  );
}

function inObject(object: JsonObject, schema: JsonObject, part: Part): FieldProblem[] {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const written = Object.keys(object).filter((key) => !key.includes('{{'));
  const at = (key: string) => ({ ...part, pointer: childPointer(part.pointer, key) });
  return [
    ...(written.length === Object.keys(object).length ? missing(object, schema, part) : []),
    ...written.flatMap((key) =>
      Object.hasOwn(properties, key)
        ? problemsIn(object[key] ?? null, properties[key] ?? true, at(key))
        : undeclared(key, Object.keys(properties), schema, at(key)),
    ),
  ];
}

function missing(object: JsonObject, { required }: JsonObject, { pointer }: Part): FieldProblem[] {
  const names = (Array.isArray(required) ? required : []).filter((name) => typeof name === 'string');
  return names
    .filter((name) => !Object.hasOwn(object, name))
    .map((name) => fieldProblem(childPointer(pointer, name), 'required', `The field "${name}" is required.`));
}

function undeclared(
  key: string,
  declared: readonly string[],
  { additionalProperties, patternProperties }: JsonObject,
  { pointer }: Part,
): FieldProblem[] {
  if (additionalProperties !== false || patternProperties !== undefined) return [];
  const message = `The field "${quoted(key)}" is not declared.${didYouMean(key, declared)}`;
  return [fieldProblem(pointer, 'undeclared', message)];
}
