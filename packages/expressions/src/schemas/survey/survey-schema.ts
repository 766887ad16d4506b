import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProblemCode,
} from '@orrery/contracts';
import { quoted } from '../../messages/error-text.js';
import {
  compileNewPattern,
  compilePattern,
  PATTERN_COST,
  type Pattern,
  patternCost,
} from '../../patterns/pattern.js';

/** How a keyword holds schemas; those in place apply to the same value as the schema that they stand in. */
interface SchemaKeyword {
  readonly holds: 'one' | 'list' | 'map';
  readonly inPlace: boolean;
}

const holding = (holds: SchemaKeyword['holds'], inPlace: boolean, names: string) =>
  names.split(' ').map((name): [string, SchemaKeyword] => [name, { holds, inPlace }]);

export const SCHEMA_KEYWORDS: ReadonlyMap<string, SchemaKeyword> = new Map([
  ...holding('map', false, '$defs definitions properties patternProperties'),
  ...holding('list', false, 'prefixItems'),
  ...holding('one', false, 'additionalProperties propertyNames items contains'),
  ...holding('one', false, 'unevaluatedProperties unevaluatedItems'),
  ...holding('map', true, 'dependentSchemas'),
  ...holding('list', true, 'allOf anyOf oneOf'),
  ...holding('one', true, 'not if then else'),
]);

/** Keywords that would reach outside the document, or change what others mean depending on the way taken to them. */
const REFUSED_KEYWORDS: ReadonlySet<string> = new Set(
  '$id $async $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary'.split(' '),
);

const TYPE_NAMES: readonly JsonValue[] = 'null boolean object array number string integer'.split(' ');

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
  ...all('minimum maximum exclusiveMinimum exclusiveMaximum', ['a number', isNumber]),
  ...all('minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties', [
    'a whole number, 0 or more',
    isCount,
  ]),
};

function all<T>(names: string, shape: T): Record<string, T> {
  return Object.fromEntries(names.split(' ').map((name) => [name, shape]));
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

const WORDS = { one: 'a schema', list: 'a list of schemas', map: 'a map of schemas' } as const;
const TOO_MANY = { ok: false, reason: 'The schema has too many or too large patterns.' } as const;

/**
 * The schemas, references and patterns of a document (whose depth is bounded). The walk checks the shape of each keyword,
 * so that compiling cannot fail.
 */
export class Survey {
  readonly patterns = new Map<string, Pattern>();
  readonly problems: FieldProblem[] = [];
  /** Every schema by its pointer: what a reference may lead to, and nothing else. */
  readonly #schemas = new Map<string, JsonValue>();
  readonly #anchors = new Map<string, string>();
  readonly #references = new Map<string, string>();
  /** Pointers of the schemas that apply to the same value as the one at the key, references apart. */
  readonly #inPlace = new Map<string, string[]>();

  readonly #isNew: boolean;
  #patternCost = 0;

  /** @param isNew somebody wants to save it: what compiling its patterns takes is bounded */
  constructor(root: JsonObject, isNew: boolean) {
    this.#isNew = isNew;
    this.#visit(root, '');
  }

  #complain(pointer: string, message: string, code: ProblemCode = 'invalid_schema'): void {
    if (this.problems.length < CONTRACT_LIMITS.problems)
      this.problems.push(fieldProblem(pointer, code, message));
  }

  #visit(schema: JsonValue, pointer: string): void {
    const most = CONTRACT_LIMITS.schemas;
    this.#schemas.set(pointer, schema);
    if (this.#schemas.size > most)
      this.#complain(pointer, `A contract may have at most ${most} schemas.`, 'schema_too_large');
    else if (isJsonObject(schema))
      for (const key of Object.keys(schema)) this.#visitKeyword(key, schema[key] ?? null, pointer);
    else if (typeof schema !== 'boolean') this.#complain(pointer, 'A schema must be an object or a boolean.');
  }

  #visitKeyword(keyword: string, value: JsonValue, pointer: string): void {
    const at = childPointer(pointer, keyword);
    const complaint = keywordComplaint(keyword, value);
    const kind = SCHEMA_KEYWORDS.get(keyword);
    if (complaint !== undefined) this.#complain(at, complaint);
    else if (kind !== undefined) this.#visitParts(keyword, kind, value, pointer);
    else if (typeof value === 'string') this.#note(keyword, value, pointer);
  }

  /** Records what other schemas and the compilation need. */
  #note(keyword: string, text: string, pointer: string): void {
    const at = childPointer(pointer, keyword);
    if (keyword === '$ref') this.#references.set(pointer, text);
    if (keyword === '$anchor') this.#anchors.set(text, pointer);
    if (keyword === 'pattern') this.#compilePattern(text, at);
    if (keyword === '$schema' && pointer !== '')
      this.#complain(at, 'The keyword "$schema" is allowed at the root only.');
  }

  #visitParts(keyword: string, { holds, inPlace }: SchemaKeyword, value: JsonValue, pointer: string): void {
    const at = childPointer(pointer, keyword);
    const parts = partsOf(value, holds, at);
    if (parts === undefined) {
      this.#complain(at, `The keyword "${keyword}" must be ${WORDS[holds]}.`);
      return;
    }
    if (inPlace) this.#inPlace.set(pointer, [...(this.#inPlace.get(pointer) ?? []), ...parts.keys()]);
    for (const [partPointer, part] of parts) this.#visit(part, partPointer);
    if (keyword !== 'patternProperties') return;
    for (const source of Object.keys(value as JsonObject))
      this.#compilePattern(source, childPointer(at, source));
  }

  /** Compiles a pattern once for its document; all of them together are bounded, because compiling takes time. */
  #compilePattern(source: string, pointer: string): void {
    const { patterns } = this;
    if (patterns.has(source)) return;
    const size = patterns.values().reduce((total, pattern) => total + pattern.size, 0);
    const isFull = size > CONTRACT_LIMITS.patternSize || patterns.size >= CONTRACT_LIMITS.patterns;
    const compile = this.#isNew ? compileNewPattern : compilePattern;
    const result = isFull || this.#isTooCostly(source) ? TOO_MANY : compile(source);
    if (result.ok) patterns.set(source, result.pattern);
    else this.#complain(pointer, result.reason, 'invalid_pattern');
  }

  #isTooCostly(source: string): boolean {
    if (!this.#isNew) return false;
    const own = patternCost(source);
    // One that is refused by itself is never compiled.
    if (own <= PATTERN_COST.ofOne) this.#patternCost += own;
    return this.#patternCost > PATTERN_COST.together;
  }

  /** The schema that a `$ref` leads to: `#`, `#/$defs/x` or `#anchor`; undefined when there is none. */
  referred(reference: JsonValue | undefined): JsonValue | undefined {
    const pointer = typeof reference === 'string' ? this.#resolve(reference) : undefined;
    return pointer === undefined ? undefined : this.#schemas.get(pointer);
  }

  #resolve(reference: string): string | undefined {
    if (!reference.startsWith('#')) return undefined;
    const target = decode(reference.slice(1));
    if (target === undefined) return undefined;
    const pointer = target === '' || target.startsWith('/') ? target : this.#anchors.get(target);
    return pointer !== undefined && this.#schemas.has(pointer) ? pointer : undefined;
  }

  /** Schemas that hold for a value whenever this one does. */
  alsoHolding({ $ref, allOf }: JsonObject): JsonValue[] {
    return [this.referred($ref) ?? [], allOf ?? []].flat();
  }

  /** References that lead nowhere (or out of the document), and schemas that contain themselves for the same value. */
  referenceProblems(): FieldProblem[] {
    const lost = [...this.#references].filter(([, reference]) => this.#resolve(reference) === undefined);
    if (lost.length > 0)
      return lost.slice(0, CONTRACT_LIMITS.problems).map(([pointer, reference]) => {
        const message = `The reference "${quoted(reference)}" leads to no schema in this document.`;
        return fieldProblem(`${pointer}/$ref`, 'unknown_reference', message);
      });
    const state = new Map<string, 'open' | 'done'>();
    for (const pointer of this.#schemas.keys()) {
      const loop = this.#loopFrom(pointer, state);
      if (loop !== undefined)
        return [fieldProblem(loop, 'reference_loop', 'The schema refers to itself without end.')];
    }
    return [];
  }

  /** Depth first: a schema met again while it is still open closes a loop. */
  #loopFrom(pointer: string, state: Map<string, 'open' | 'done'>): string | undefined {
    if (state.has(pointer)) return state.get(pointer) === 'open' ? pointer : undefined;
    state.set(pointer, 'open');
    const target = this.#resolve(this.#references.get(pointer) ?? '');
    for (const next of [target ?? [], (this.#inPlace.get(pointer) ?? []).toReversed()].flat()) {
      const loop = this.#loopFrom(next, state);
      if (loop !== undefined) return loop;
    }
    state.set(pointer, 'done');
    return undefined;
  }
}

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

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
