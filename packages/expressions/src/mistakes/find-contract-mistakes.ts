import {
  childPointer,
  closest,
  didYouMean,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  writeInstead,
} from '@orrery/contracts';
import { type Comparisons, comparable } from '../messages/comparisons.js';
import { quoted } from '../messages/error-text.js';
import { type CompiledContract, compileSchema, isJsonSchema } from '../schemas/compile-contract.js';
import { type Check, checkAgainst, checkBudget } from '../schemas/keywords/validation.js';
import type { Survey } from '../schemas/survey/survey-schema.js';
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
    const own = name.endsWith('?') ? [markProblem(at, name, field)] : [];
    return [...own, ...(isJsonObject(field) ? questionMarks(field, at) : [])];
  });

function markProblem(pointer: string, name: string, field: JsonValue): FieldProblem {
  const spelling =
    typeof field === 'string'
      ? `"${quoted(name.slice(0, -1))}": "${quoted(field.replace(/\?$/, ''))}?"`
      : undefined;
  const advice = spelling ?? 'a nested map cannot be optional; JSON Schema can say this';
  const message = `The "?" of an optional field stands behind its type: ${advice}.`;
  return fieldProblem(pointer, 'invalid_schema', message, spelling && `Write ${spelling}.`);
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
    const meant = `"${quoted(name)}": "${quoted(type)}"`;
    const message = `This is a nested map with one field that is called "type". For a field of this type write ${meant}.`;
    return [fieldProblem(at, 'nested_type', message, `Write ${meant}.`)];
  });

/**
 * The rules of a contract that a template breaks whatever its placeholders give. Parts without placeholders are checked
 * in full. Of the others only `type`, `required`, `properties`, `additionalProperties`, `items`, `$ref` and `allOf` are
 * read; what other keywords say depends on the values.
 */
export const findCertainRefusals = (
  template: JsonObject,
  { schema, survey }: CompiledContract,
  kinds: NameKinds,
): FieldProblem[] => new RefusalSearch(survey, kinds).problemsIn(template, schema, '');

/** Values and keys with problems of their own that are looked for. */
const MAX_FAILURES = 20;
/** Of the work of checks: finding the schema of a key or element, and its pointer. */
const PART_COST = 5;

/** The search through one template: schemas may refer to the same ones over and over. */
class RefusalSearch {
  readonly #survey: Survey;
  readonly #kinds: NameKinds;
  /** Pointers of the values that a schema has been applied to. */
  readonly #seen = new Map<JsonValue, Set<string>>();
  readonly #checks = new Map<JsonValue, Check>();
  /** Whether a value has placeholders. */
  readonly #open = new Map<JsonValue, boolean>();
  readonly #budget = checkBudget();
  #failures = 0;

  constructor(survey: Survey, kinds: NameKinds) {
    this.#survey = survey;
    this.#kinds = kinds;
  }

  problemsIn(value: JsonValue, schema: JsonValue, pointer: string): FieldProblem[] {
    if (this.#isKnown(schema, pointer)) return [];
    if (!this.#isOpen(value)) return this.#failing(() => this.#checked(value, schema, pointer));
    if (!isJsonObject(schema) || !this.#spend(value)) return [];
    return [
      ...this.#failing(() => wrongType(value, schema, pointer, this.#kinds)),
      ...(Array.isArray(value) ? this.#inList(value, schema, pointer) : []),
      ...(isJsonObject(value) ? this.#inObject(value, schema, pointer) : []),
      ...this.#survey.alsoHolding(schema).flatMap((one) => this.problemsIn(value, one, pointer)),
    ];
  }

  #isKnown(schema: JsonValue, pointer: string): boolean {
    const pointers = this.#seen.get(schema) ?? new Set();
    if (pointers.has(pointer)) return true;
    this.#seen.set(schema, pointers.add(pointer));
    return false;
  }

  /** Charges for going through the parts of a value; false where that takes too long, which is left to the executions. */
  #spend(value: JsonValue): boolean {
    if (this.#budget.work < 0) return false;
    const parts = typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
    this.#budget.work -= 1 + parts * PART_COST;
    return this.#budget.work >= 0;
  }

  /** Looks for problems unless enough have been found: a template has thousands of values and keys. */
  #failing(find: () => FieldProblem[]): FieldProblem[] {
    const problems = this.#failures < MAX_FAILURES ? find() : [];
    if (problems.length > 0) this.#failures += 1;
    return problems.filter(({ code }) => code !== 'too_complex');
  }

  /** Many schemas may apply to one value. */
  #isOpen(value: JsonValue): boolean {
    const isOpen = this.#open.get(value) ?? hasPlaceholder(value);
    this.#open.set(value, isOpen);
    return isOpen;
  }

  /** What takes too long to check is left to the executions. */
  #checked(value: JsonValue, schema: JsonValue, pointer: string): FieldProblem[] {
    const check = this.#checks.get(schema) ?? compileSchema(schema, this.#survey);
    this.#checks.set(schema, check);
    const problems = checkAgainst({ check }, value, { budget: this.#budget });
    return problems.map((problem) => ({ ...problem, pointer: `${pointer}${problem.pointer}` }));
  }

  #inList(list: readonly JsonValue[], { prefixItems, items }: JsonObject, pointer: string): FieldProblem[] {
    const first = Array.isArray(prefixItems) ? prefixItems : [];
    return list.flatMap((item, index) =>
      this.problemsIn(item, first[index] ?? items ?? true, `${pointer}/${index}`),
    );
  }

  #inObject(object: JsonObject, schema: JsonObject, pointer: string): FieldProblem[] {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const written = Object.keys(object).filter((key) => !key.includes('{{'));
    const isWritten = written.length === Object.keys(object).length;
    const declared = Object.keys(properties);
    const { comparisons } = this.#budget;
    return [
      ...(isWritten ? this.#failing(() => missing(object, schema, pointer)) : []),
      ...written.flatMap((key) => {
        const at = childPointer(pointer, key);
        return Object.hasOwn(properties, key)
          ? this.problemsIn(object[key] ?? null, properties[key] ?? true, at)
          : this.#failing(() => undeclared(key, declared, schema, at, comparisons));
      }),
    ];
  }
}

const hasPlaceholder = (value: JsonValue): boolean => JSON.stringify(value).includes('{{');

/** The JSON type that the value will have; undefined where it depends. */
function kindOf(value: JsonValue, kinds: NameKinds): string | undefined {
  if (typeof value !== 'string') return Array.isArray(value) ? 'array' : 'object';
  return isPlaceholder(value) ? kinds[value.slice(2, -2).trim()] : 'string';
}

function wrongType(
  value: JsonValue,
  { type }: JsonObject,
  pointer: string,
  kinds: NameKinds,
): FieldProblem[] {
  const kind = kindOf(value, kinds);
  const allowed = [type ?? []].flat();
  if (kind === undefined || allowed.length === 0 || allowed.includes(kind)) return [];
  if (kind === 'integer' && allowed.includes('number')) return [];
  const shown = typeof value === 'string' ? `"${quoted(value)}" gives` : 'this is';
  const message = `The value must be of type ${allowed.join(' or ')}; ${shown} the type ${kind}.`;
  return [fieldProblem(pointer, 'wrong_type', message)];
}

/** Every name of `required` is a text: the survey has seen to it. */
const missing = (object: JsonObject, { required = [] }: JsonObject, pointer: string): FieldProblem[] =>
  (required as string[])
    .filter((name) => !Object.hasOwn(object, name))
    .map((name) => fieldProblem(childPointer(pointer, name), 'required', `The field "${name}" is required.`));

function undeclared(
  key: string,
  declared: readonly string[],
  { additionalProperties, patternProperties }: JsonObject,
  pointer: string,
  comparisons: Comparisons,
): FieldProblem[] {
  if (additionalProperties !== false || patternProperties !== undefined) return [];
  const names = comparable(declared, comparisons);
  const message = `The field "${quoted(key)}" is not declared.${didYouMean(key, names)}`;
  return [fieldProblem(pointer, 'undeclared', message, writeInstead(closest(key, names)))];
}
