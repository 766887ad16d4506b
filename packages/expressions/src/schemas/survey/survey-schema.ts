import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';
import { quoted } from '../../messages/error-text.js';
import { compilePattern, type Pattern } from '../../patterns/pattern.js';

/** How a keyword holds schemas; those in place apply to the same value as the schema that they stand in. */
interface SchemaKeyword {
  readonly holds: 'one' | 'list' | 'map';
  readonly inPlace: boolean;
}

const apart = (holds: SchemaKeyword['holds'], ...names: string[]): [string, SchemaKeyword][] =>
  names.map((name) => [name, { holds, inPlace: false }]);
const inPlace = (holds: SchemaKeyword['holds'], ...names: string[]): [string, SchemaKeyword][] =>
  names.map((name) => [name, { holds, inPlace: true }]);

export const SCHEMA_KEYWORDS: ReadonlyMap<string, SchemaKeyword> = new Map([
  ...apart('map', '$defs', 'definitions', 'properties', 'patternProperties'),
  ...apart('list', 'prefixItems'),
  ...apart('one', 'additionalProperties', 'propertyNames', 'items', 'contains'),
  ...apart('one', 'unevaluatedProperties', 'unevaluatedItems'),
  ...inPlace('map', 'dependentSchemas'),
  ...inPlace('list', 'allOf', 'anyOf', 'oneOf'),
  ...inPlace('one', 'not', 'if', 'then', 'else'),
]);

/** Keywords that would reach outside the document, or change what others mean depending on the way taken to them. */
const REFUSED_KEYWORDS: ReadonlySet<string> = new Set([
  '$id',
  '$async',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  '$vocabulary',
]);

const TYPE_NAMES: readonly JsonValue[] = [
  'null',
  'boolean',
  'object',
  'array',
  'number',
  'string',
  'integer',
];

const isNumber = (value: JsonValue): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: JsonValue): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isTexts = (value: JsonValue): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
const isTypes = (value: JsonValue): boolean =>
  Array.isArray(value)
    ? value.length > 0 && value.every((type) => TYPE_NAMES.includes(type))
    : TYPE_NAMES.includes(value);

/** What a keyword that holds no schema must look like: the words for the message, and the test. */
const shapes: Readonly<Record<string, readonly [string, (value: JsonValue) => boolean]>> = {
  type: ['a type name, or a list of them', isTypes],
  enum: ['a list', Array.isArray],
  required: ['a list of texts', isTexts],
  dependentRequired: [
    'a map of lists of texts',
    (value) => isJsonObject(value) && Object.values(value).every(isTexts),
  ],
  uniqueItems: ['true or false', (value) => typeof value === 'boolean'],
  multipleOf: ['a number above 0', (value) => isNumber(value) && Number(value) > 0],
  $ref: ['text', (value) => typeof value === 'string'],
  pattern: ['text', (value) => typeof value === 'string'],
  $anchor: ['a name', (value) => typeof value === 'string' && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value)],
  ...all(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], ['a number', isNumber]),
  ...all(
    [
      'minLength',
      'maxLength',
      'minItems',
      'maxItems',
      'minContains',
      'maxContains',
      'minProperties',
      'maxProperties',
    ],
    ['a whole number, 0 or more', isCount],
  ),
};

function all<T>(names: readonly string[], shape: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, shape]));
}

/** What is wrong with a keyword's own value, if anything. Unknown keywords are annotations. */
function keywordComplaint(keyword: string, value: JsonValue): string | undefined {
  if (REFUSED_KEYWORDS.has(keyword)) return `The keyword "${keyword}" is not supported.`;
  const shape = Object.hasOwn(shapes, keyword) ? shapes[keyword] : undefined;
  return shape === undefined || shape[1](value) ? undefined : `The keyword "${keyword}" must be ${shape[0]}.`;
}

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

/** Pointer of the schema that a `$ref` leads to: `#`, `#/$defs/x` or `#anchor`; undefined when there is none. */
export function resolveReference(reference: string, survey: Survey): string | undefined {
  if (!reference.startsWith('#')) return undefined;
  const target = decode(reference.slice(1));
  if (target === undefined) return undefined;
  const pointer = target === '' || target.startsWith('/') ? target : survey.anchors.get(target);
  return pointer !== undefined && survey.schemas.has(pointer) ? pointer : undefined;
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

/** Schemas that hold for a value whenever this one does. */
export function alsoHolding({ $ref, allOf }: JsonObject, survey: Survey): JsonValue[] {
  const pointer = typeof $ref === 'string' ? resolveReference($ref, survey) : undefined;
  const referred = pointer === undefined ? [] : (survey.schemas.get(pointer) ?? []);
  return [referred, allOf ?? []].flat();
}

/** References that lead nowhere (or out of the document), and schemas that contain themselves for the same value. */
export function referenceProblems(survey: Survey): FieldProblem[] {
  const lost = [...survey.references].filter(
    ([, reference]) => resolveReference(reference, survey) === undefined,
  );
  if (lost.length > 0)
    return lost.slice(0, 20).map(([pointer, reference]) => lostReference(pointer, reference));
  const loop = findLoop(survey);
  return loop === undefined
    ? []
    : [fieldProblem(loop, 'reference_loop', 'The schema refers to itself without end.')];
}

const lostReference = (pointer: string, reference: string): FieldProblem =>
  fieldProblem(
    `${pointer}/$ref`,
    'unknown_reference',
    `The reference "${quoted(reference)}" leads to no schema in this document.`,
  );

const inPlaceOf = (pointer: string, survey: Survey): string[] => {
  const reference = survey.references.get(pointer);
  const target = reference === undefined ? undefined : resolveReference(reference, survey);
  return [...(survey.inPlace.get(pointer) ?? []), ...(target === undefined ? [] : [target])];
};

/** Depth first with its own stack: a schema met again while it is still open closes a loop. */
function findLoop(survey: Survey): string | undefined {
  const state = new Map<string, 'open' | 'done'>();
  for (const start of survey.schemas.keys()) {
    const stack: { pointer: string; leaving: boolean }[] = [{ pointer: start, leaving: false }];
    for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
      const { pointer, leaving } = step;
      if (leaving) state.set(pointer, 'done');
      else if (state.get(pointer) === 'open') return pointer;
      else if (!state.has(pointer)) {
        state.set(pointer, 'open');
        stack.push({ pointer, leaving: true });
        stack.push(...inPlaceOf(pointer, survey).map((next) => ({ pointer: next, leaving: false })));
      }
    }
  }
  return undefined;
}
