import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';
import { compilePattern, type Pattern } from '../../patterns/pattern.js';
import { keywordComplaint, SCHEMA_KEYWORDS, type SchemaKeyword } from './keyword-shapes.js';

/** Bounds of a contract, checked when it is compiled, and of one check. */
export const CONTRACT_LIMITS = {
  /** Characters of the schema as JSON. */
  characters: 65_536,
  /** Schemas inside it, itself included. */
  schemas: 1_000,
  patterns: 100,
  /** Instructions of all its patterns: about 10 ms of compiling. */
  patternSize: 10_000,
  problems: 20,
  /** Units of about one keyword: about 20 ms at worst. Patterns have a budget of their own. */
  work: 400_000,
  /** Schemas inside one another while checking; references make them nest deeper than the value does. */
  depth: 500,
} as const;

/** The schemas, references and patterns of a document. */
export interface Survey {
  /** Every schema by its pointer: what a reference may lead to, and nothing else. */
  readonly schemas: Map<string, JsonValue>;
  readonly anchors: Map<string, string>;
  readonly references: Map<string, string>;
  /** Pointers of the schemas that apply to the same value as the one at the key, references apart. */
  readonly inPlace: Map<string, string[]>;
  readonly patterns: Map<string, Pattern>;
  readonly problems: FieldProblem[];
}

/** Walks a JSON Schema (whose depth is bounded) and checks the shape of each keyword, so that compiling cannot fail. */
export function surveySchema(root: JsonObject): Survey {
  const survey: Survey = {
    schemas: new Map(),
    anchors: new Map(),
    references: new Map(),
    inPlace: new Map(),
    patterns: new Map(),
    problems: [],
  };
  visit(root, '', survey);
  return survey;
}

function complain(survey: Survey, pointer: string, message: string, code = 'invalid_schema'): void {
  if (survey.problems.length < CONTRACT_LIMITS.problems)
    survey.problems.push(fieldProblem(pointer, code, message));
}

function visit(schema: JsonValue, pointer: string, survey: Survey): void {
  const most = CONTRACT_LIMITS.schemas;
  survey.schemas.set(pointer, schema);
  if (survey.schemas.size > most)
    complain(survey, pointer, `A contract may have at most ${most} schemas.`, 'schema_too_large');
  else if (isJsonObject(schema))
    for (const key of Object.keys(schema)) visitKeyword(key, schema[key] ?? null, pointer, survey);
  else if (typeof schema !== 'boolean') complain(survey, pointer, 'A schema must be an object or a boolean.');
}

function visitKeyword(keyword: string, value: JsonValue, pointer: string, survey: Survey): void {
  const at = childPointer(pointer, keyword);
  const complaint = keywordComplaint(keyword, value);
  const kind = SCHEMA_KEYWORDS.get(keyword);
  if (complaint !== undefined) complain(survey, at, complaint);
  else if (kind !== undefined) visitParts(keyword, kind, value, pointer, survey);
  else if (typeof value === 'string') note(keyword, value, pointer, survey);
}

/** Records what other schemas and the compilation need. */
function note(keyword: string, text: string, pointer: string, survey: Survey): void {
  if (keyword === '$ref') survey.references.set(pointer, text);
  if (keyword === '$anchor') survey.anchors.set(text, pointer);
  if (keyword === 'pattern') surveyPattern(text, childPointer(pointer, keyword), survey);
  if (keyword === '$schema' && pointer !== '')
    complain(survey, childPointer(pointer, keyword), 'The keyword "$schema" is allowed at the root only.');
}

function visitParts(
  keyword: string,
  { holds, inPlace }: SchemaKeyword,
  value: JsonValue,
  pointer: string,
  survey: Survey,
): void {
  const at = childPointer(pointer, keyword);
  const parts = partsOf(value, holds, at);
  if (parts === undefined) complain(survey, at, `The keyword "${keyword}" must be ${WORDS[holds]}.`);
  if (inPlace)
    survey.inPlace.set(pointer, [...(survey.inPlace.get(pointer) ?? []), ...(parts?.keys() ?? [])]);
  for (const [partPointer, part] of parts ?? []) visit(part, partPointer, survey);
  if (keyword !== 'patternProperties' || !isJsonObject(value)) return;
  for (const source of Object.keys(value)) surveyPattern(source, childPointer(at, source), survey);
}

const WORDS = { one: 'a schema', list: 'a list of schemas', map: 'a map of schemas' } as const;

function partsOf(
  value: JsonValue,
  holds: SchemaKeyword['holds'],
  at: string,
): Map<string, JsonValue> | undefined {
  if (holds === 'one') return new Map([[at, value]]);
  const isFitting = holds === 'list' ? Array.isArray(value) && value.length > 0 : isJsonObject(value);
  if (!isFitting) return undefined;
  return new Map(Object.entries(value as JsonObject).map(([key, part]) => [childPointer(at, key), part]));
}

/** Compiles a pattern once for its document; all of them together are bounded, because compiling takes time. */
function surveyPattern(source: string, pointer: string, survey: Survey): void {
  if (survey.patterns.has(source)) return;
  const isFull = programSize(survey) > CONTRACT_LIMITS.patternSize;
  const result =
    isFull || survey.patterns.size >= CONTRACT_LIMITS.patterns ? TOO_MANY : compilePattern(source);
  if (result.ok) survey.patterns.set(source, result.pattern);
  else complain(survey, pointer, result.reason, 'invalid_pattern');
}

const TOO_MANY = { ok: false, reason: 'The schema has too many or too large patterns.' } as const;

const programSize = ({ patterns }: Survey): number =>
  [...patterns.values()].reduce((total, { size }) => total + size, 0);
