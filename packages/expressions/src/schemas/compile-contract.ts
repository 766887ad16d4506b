import {
  type AttributeType,
  childPointer,
  type FieldProblem,
  fieldProblem,
  findUnsafeJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';
import { quoted } from '../messages/error-text.js';
import { combinators, withUnevaluated } from './keywords/combinators.js';
import { type Check, type KeywordCompiler, type SchemaContext, together } from './keywords/validation.js';
import { lists, objects, scalars } from './keywords/values.js';
import { CONTRACT_LIMITS, SCHEMA_KEYWORDS, Survey } from './survey/survey-schema.js';

/** A contract ready to check values; made by `compileContract`, opaque to its users. */
export interface CompiledContract {
  /** The contract as JSON Schema 2020-12, closed at its root. */
  readonly schema: JsonObject;
  readonly survey: Survey;
  readonly check: Check;
}

type ContractResult = { ok: true; contract: CompiledContract } | { ok: false; problems: FieldProblem[] };

/**
 * Compiles an `inputSchema` or `outputSchema`: a short map, or JSON Schema 2020-12. Undeclared keys are refused: in a
 * short map everywhere, in a JSON Schema at the root unless it says itself what may stand there
 * (`additionalProperties` or `unevaluatedProperties`); deeper down JSON Schema's own rule holds. Patterns of a new one are
 * bounded in what compiling takes; of one that is saved they are compiled. Never throws.
 */
export function compileContract(source: JsonValue, { isNew = false } = {}): ContractResult {
  if (!isJsonObject(source))
    return refuse([fieldProblem('', 'invalid_schema', 'A contract must be an object.')]);
  const unsafe = findUnsafeJson(source);
  if (unsafe !== undefined) return refuse([unsafe]);
  if (JSON.stringify(source).length > CONTRACT_LIMITS.characters)
    return refuse([
      fieldProblem(
        '',
        'schema_too_large',
        `A contract may have at most ${CONTRACT_LIMITS.characters} characters.`,
      ),
    ]);
  return isJsonSchema(source) ? compileJsonSchema(source, isNew) : compileShortMap(source);
}

const refuse = (problems: FieldProblem[]): ContractResult => ({
  ok: false,
  problems: problems.slice(0, CONTRACT_LIMITS.problems),
});

function compileShortMap(map: JsonObject): ContractResult {
  const problems: FieldProblem[] = [];
  const schema = { $schema: DIALECT, ...expandShortMap(map, '', problems) };
  if (problems.length > 0) return refuse(problems);
  const survey = new Survey(schema, false);
  const [tooLarge] = survey.problems;
  if (tooLarge !== undefined) return refuse([{ ...tooLarge, pointer: '' }]);
  return { ok: true, contract: { schema, survey, check: compileSchema(schema, survey) } };
}

function compileJsonSchema(source: JsonObject, isNew: boolean): ContractResult {
  const { $schema: dialect = DIALECT } = source;
  if (dialect !== DIALECT && dialect !== `${DIALECT}#`)
    return refuse([fieldProblem('/$schema', 'invalid_schema', `The only supported dialect is ${DIALECT}.`)]);
  const schema = closeRoot({ ...source, $schema: DIALECT });
  const survey = new Survey(schema, isNew);
  if (survey.problems.length > 0) return refuse(survey.problems);
  const lost = survey.referenceProblems();
  if (lost.length > 0) return refuse(lost);
  return { ok: true, contract: { schema, survey, check: compileSchema(schema, survey) } };
}

/** Adds `additionalProperties: false`, or `unevaluatedProperties: false` where other keywords declare keys too. */
function closeRoot(schema: JsonObject): JsonObject {
  const isExplicit = 'additionalProperties' in schema || 'unevaluatedProperties' in schema;
  if (isExplicit) return schema;
  const declaresElsewhere = Object.keys(schema).some(
    (key) => key === '$ref' || SCHEMA_KEYWORDS.get(key)?.inPlace,
  );
  return { ...schema, [declaresElsewhere ? 'unevaluatedProperties' : 'additionalProperties']: false };
}

/** The contract as JSON Schema 2020-12, for a model's output and for documentation. Not to be changed. */
export const toJsonSchema = ({ schema }: CompiledContract): JsonObject => schema;

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The types of attributes, and what only contracts know. */
const TYPES = {
  integer: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  float: { type: 'number' },
  number: { type: 'number' },
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  json: {},
  any: {},
  object: { type: 'object' },
  array: { type: 'array' },
} satisfies Record<AttributeType | 'number' | 'any' | 'object' | 'array', JsonObject>;

const FIELD = new RegExp(`^(${Object.keys(TYPES).join('|')})((?:\\[\\]){0,8})(\\?)?$`);

/** JSON Schema has `$schema`, or `type: "object"` with `properties`; everything else is a short map (docs/schemas.md). */
export const isJsonSchema = (schema: JsonObject): boolean =>
  Object.hasOwn(schema, '$schema') || (schema['type'] === 'object' && isJsonObject(schema['properties']));

/**
 * A short map — `{ "raceId": "string", "laps": "integer?", "tags": "string[]", "car": { "speed": "float" } }` — as JSON
 * Schema. What it does not name is refused, at every level; `?` means that the field may be absent (not null).
 */
function expandShortMap(map: JsonObject, pointer: string, problems: FieldProblem[]): JsonObject {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(map)) {
    properties[name] = expandField(field, childPointer(pointer, name), problems);
    if (typeof field !== 'string' || !field.endsWith('?')) required.push(name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

function expandField(field: JsonValue, pointer: string, problems: FieldProblem[]): JsonObject {
  if (isJsonObject(field)) return expandShortMap(field, pointer, problems);
  const [, type = '', lists = ''] = (typeof field === 'string' && FIELD.exec(field)) || [];
  const schema: JsonObject | undefined = TYPES[type as keyof typeof TYPES];
  if (schema === undefined) {
    problems.push(fieldProblem(pointer, 'unknown_type', unknownType(field)));
    return {};
  }
  return Array.from({ length: lists.length / 2 }).reduce<JsonObject>(
    (items) => ({ type: 'array', items }),
    schema,
  );
}

const unknownType = (field: JsonValue): string =>
  `The type ${quoted(JSON.stringify(field), 60)} is not known. Types are ${Object.keys(TYPES).join(', ')}, each with [] and ? ` +
  `at its end, or a nested map. (A contract is JSON Schema when it has "$schema", or "type": "object" with "properties".)`;

/**
 * JSON Schema 2020-12 compiled to closures, from a surveyed document. ajv is not used because any account can write
 * schemas and ajv has no budget: small schemas keep the thread busy for seconds (docs/adr/0006).
 */
export function compileSchema(root: JsonValue, survey: Survey): Check {
  // By schema object, so that a schema referred to often, or by itself, is compiled once.
  const compiled = new Map<JsonObject, { check: Check }>();
  const context: SchemaContext = {
    survey,
    compile(schema) {
      if (!isJsonObject(schema)) return schema === false ? nothing : anything;
      const known = compiled.get(schema);
      if (known !== undefined) return (value, run) => known.check(value, run);
      const entry = { check: anything };
      compiled.set(schema, entry);
      entry.check = compileObject(schema, context);
      return entry.check;
    },
  };
  return context.compile(root);
}

const anything: Check = () => true;
const nothing: Check = (_, run) => run.report('not_allowed', 'Nothing is allowed here.');

const keywords: readonly KeywordCompiler[] = [...scalars, ...lists, ...objects, ...combinators];

function compileObject(schema: JsonObject, context: SchemaContext): Check {
  const checks = keywords.map((keyword) => keyword(schema, context)).filter((check) => check !== undefined);
  return withUnevaluated(together(checks), schema, context);
}
