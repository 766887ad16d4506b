import {
  type AttributeConstraints,
  type AttributeType,
  type CreateAttributeBody,
  childPointer,
  type FieldProblem,
  fieldProblem,
  type JsonObject,
  type JsonValue,
  MAX_PROBLEMS,
} from '@orrery/contracts';
import {
  compileNewPattern,
  compilePattern,
  PATTERN_COST,
  PATTERN_WORK,
  type PatternResult,
  type PatternWork,
  patternCost,
  testWithin,
} from '../patterns/pattern.js';
import { foundText } from '../schemas/keywords/validation.js';

/** An attribute's definition, whatever record carries it. Null and absent mean the same. */
export type AttributeShape = CreateAttributeBody;

/** Why a value does not fit. The message follows a subject ("The attribute …") and gets its full stop there. */
interface Misfit {
  readonly code: 'wrong_type' | 'out_of_range' | 'not_allowed' | 'pattern_mismatch' | 'too_complex';
  readonly message: string;
}

/** Patterns are charged to the work of the whole check. */
type Check = (value: JsonValue, work: PatternWork) => Misfit | undefined;

/** An attribute ready to check values that are not null. */
interface CompiledAttribute {
  readonly name: string;
  readonly required: boolean;
  /** Null: there is none. */
  readonly defaultValue: JsonValue;
  readonly check: Check;
}

type PatternCompiler = (source: string) => PatternResult;

/** The same pattern of many attributes is compiled once. */
function compilingOnce(compile: PatternCompiler): PatternCompiler {
  const known = new Map<string, PatternResult>();
  return (source) => {
    const result = known.get(source) ?? compile(source);
    known.set(source, result);
    return result;
  };
}

/** A pattern that cannot be read matches nothing; definitions with one are refused when they are saved. */
export function compileAttribute(
  attribute: AttributeShape,
  compile: PatternCompiler = compilePattern,
): CompiledAttribute {
  const constraints = attribute.constraints ?? {};
  return {
    name: attribute.name,
    required: constraints.required === true,
    defaultValue: frozen(structuredClone(attribute.defaultValue ?? null)),
    check: checksOf[attribute.type](constraints, compile),
  };
}

function frozen(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) frozen(part);
  Object.freeze(value);
  return value;
}

const wrongType = (expected: string): Misfit => ({ code: 'wrong_type', message: `must be ${expected}` });

type Checks = (constraints: AttributeConstraints, compile: PatternCompiler) => Check;

const checksOf: Readonly<Record<AttributeShape['type'], Checks>> = {
  integer: (constraints) => numberCheck(Number.isSafeInteger, wrongType('a whole number'), constraints),
  float: (constraints) => numberCheck(Number.isFinite, wrongType('a finite number'), constraints),
  string: textCheck,
  boolean: () => (value) => (typeof value === 'boolean' ? undefined : wrongType('true or false')),
  json: () => () => undefined,
};

function numberCheck(
  isNumber: (value: unknown) => boolean,
  misfit: Misfit,
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: AttributeConstraints,
): Check {
  const tooSmall: Misfit = { code: 'out_of_range', message: `must be at least ${min}` };
  const tooLarge: Misfit = { code: 'out_of_range', message: `must be at most ${max}` };
  return (value) => {
    if (typeof value !== 'number' || !isNumber(value)) return misfit;
    if (value < min) return tooSmall;
    return value > max ? tooLarge : undefined;
  };
}

function textCheck({ enum: allowed, pattern }: AttributeConstraints, compile: PatternCompiler): Check {
  const misfit = wrongType('text');
  const known = allowed && new Set(allowed);
  const notAllowed: Misfit = { code: 'not_allowed', message: `must be one of ${listed(allowed ?? [])}` };
  const matches = pattern === undefined ? () => true : matcher(pattern, compile);
  const mismatch: Misfit = { code: 'pattern_mismatch', message: `must match the pattern ${pattern}` };
  return (value, work) => {
    if (typeof value !== 'string') return misfit;
    if (known !== undefined && !known.has(value)) return notAllowed;
    const outcome = matches(value, work);
    if (outcome === undefined) return TOO_COMPLEX;
    return outcome ? undefined : mismatch;
  };
}

const TOO_COMPLEX: Misfit = { code: 'too_complex', message: 'takes too long to check against its pattern' };

function matcher(
  source: string,
  compile: PatternCompiler,
): (text: string, work: PatternWork) => boolean | undefined {
  // Compiled at its first use: a world may have thousands, of which an execution needs a few.
  let compiled: PatternResult | undefined;
  return (text, work) => {
    compiled ??= compile(source);
    return compiled.ok && testWithin(compiled.pattern, text, work);
  };
}

const listed = (allowed: readonly string[]): string =>
  allowed.slice(0, 10).join(', ') + (allowed.length > 10 ? ', …' : '');

/** An entity schema's attributes, ready to check states; kept by its hash. */
interface CompiledEntitySchema {
  readonly attributes: readonly CompiledAttribute[];
  readonly withDefault: readonly CompiledAttribute[];
}

export function compileEntitySchema(attributes: readonly AttributeShape[]): CompiledEntitySchema {
  const compile = compilingOnce(compilePattern);
  const compiled = attributes.map((attribute) => compileAttribute(attribute, compile));
  return { attributes: compiled, withDefault: compiled.filter(({ defaultValue }) => defaultValue !== null) };
}

/**
 * Fills in the defaults of absent attributes (null is present). Returns the state itself when nothing is missing, else a
 * copy; it never changes what it is given. Defaults are frozen and shared by all states that have them.
 */
export function applyDefaults({ withDefault }: CompiledEntitySchema, state: JsonObject): JsonObject {
  const missing = withDefault.filter(({ name }) => !Object.hasOwn(state, name));
  if (missing.length === 0) return state;
  const complete = { ...state };
  for (const { name, defaultValue } of missing) complete[name] = defaultValue;
  return complete;
}

/**
 * What a state breaks, after defaults: pointers are into the state. Null is allowed for any attribute that is not
 * required, whatever its type; attributes that the schema does not name may hold anything. Patterns are charged to `work`,
 * which the checks of several states may share. Without `showsValues` messages do not repeat what was found.
 */
export function checkState(
  { attributes }: CompiledEntitySchema,
  state: JsonObject,
  work: PatternWork = { left: PATTERN_WORK },
  { showsValues = true } = {},
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const attribute of attributes) {
    const problem = checkAttribute(attribute, state, work, showsValues);
    if (problem !== undefined) problems.push(problem);
    if (problems.length >= MAX_PROBLEMS) break;
  }
  return problems;
}

function checkAttribute(
  { name, required, check }: CompiledAttribute,
  state: JsonObject,
  work: PatternWork,
  showsValues: boolean,
): FieldProblem | undefined {
  const value = Object.hasOwn(state, name) ? state[name] : undefined;
  if (value === undefined || value === null)
    return required
      ? fieldProblem(childPointer('', name), 'required', `The attribute "${name}" is required.`)
      : undefined;
  const misfit = check(value, work);
  if (misfit === undefined) return undefined;
  const message = `The attribute "${name}" ${misfit.message}${foundText(value, showsValues)}`;
  return fieldProblem(childPointer('', name), misfit.code, message);
}

/** The constraints that fit some types only, and the types that they fit. */
const SPECIAL = ['min', 'max', 'enum', 'pattern'] as const;
const FITTING: Readonly<Record<AttributeType, readonly (typeof SPECIAL)[number][]>> = {
  integer: ['min', 'max'],
  float: ['min', 'max'],
  string: ['enum', 'pattern'],
  boolean: [],
  json: [],
};

/**
 * What contradicts itself in an attribute (docs/schemas.md): a constraint on a type that it does not fit, bounds that leave
 * no value, a pattern that cannot be read, a default that breaks the constraints. Pointers are into the attribute. The pattern
 * of a `saved` one may stay, whatever it takes to compile.
 */
export const checkAttributeDefinition = (attribute: AttributeShape, saved?: AttributeShape): FieldProblem[] =>
  definitionProblems(attribute, compilerBeside(saved === undefined ? [] : [saved]));

const compilerBeside = (saved: readonly AttributeShape[]): PatternCompiler => {
  const patterns = patternsOf(saved);
  return compilingOnce((source) =>
    patterns.has(source) ? compilePattern(source) : compileNewPattern(source),
  );
};

const patternsOf = (attributes: readonly AttributeShape[]): ReadonlySet<string> =>
  new Set(attributes.flatMap(({ constraints }) => constraints?.pattern ?? []));

function definitionProblems(attribute: AttributeShape, compile: PatternCompiler): FieldProblem[] {
  const constraints = attribute.constraints ?? {};
  const problems = [
    ...misplacedConstraints(attribute.type, constraints),
    ...boundsProblems(attribute.type, constraints),
    ...textProblems(constraints, compile),
    ...(attribute.indexed === true && attribute.type === 'json' ? [NO_INDEX] : []),
  ];
  return problems.length > 0 ? problems : defaultProblems(attribute, compile);
}

/**
 * The same for all attributes of a schema; pointers are into the list. Patterns that take too long together are not compiled,
 * unless those of `saved` attributes do.
 */
export function checkAttributeDefinitions(
  attributes: readonly AttributeShape[],
  saved: readonly AttributeShape[] = [],
): FieldProblem[] {
  const costly = findCostlyPatterns(attributes, saved);
  if (costly.length > 0) return costly;
  const compile = compilerBeside(saved);
  return attributes.flatMap((attribute, index) =>
    definitionProblems(attribute, compile).map((problem) => ({
      ...problem,
      pointer: `/${index}${problem.pointer}`,
    })),
  );
}

/**
 * The first pattern, if any, by which those of a schema take too long together; the same pattern counts once. What was `saved`
 * before there was a bound may stay, where nothing is added.
 */
export function findCostlyPatterns(
  attributes: readonly AttributeShape[],
  saved: readonly AttributeShape[] = [],
): FieldProblem[] {
  const kept = patternsOf(saved);
  if ([...patternsOf(attributes)].every((pattern) => kept.has(pattern))) return [];
  const seen = new Set<string>();
  let cost = 0;
  for (const [index, { constraints }] of attributes.entries()) {
    const pattern = constraints?.pattern;
    if (pattern === undefined || seen.has(pattern)) continue;
    seen.add(pattern);
    // One that is refused by itself is never compiled.
    const own = patternCost(pattern);
    if (own <= PATTERN_COST.ofOne) cost += own;
    if (cost > PATTERN_COST.together)
      return [fieldProblem(`/${index}/constraints/pattern`, 'invalid_pattern', COSTLY_TOGETHER)];
  }
  return [];
}

const COSTLY_TOGETHER =
  'The patterns of the schema are too complex together. Use the same pattern for several attributes, or simpler ones: smaller counts in {…}, fewer or smaller classes.';

/** An index orders numbers, texts and booleans. */
const NO_INDEX = fieldProblem(
  '/indexed',
  'contradictory_attribute',
  'An attribute of type json cannot be indexed: make it a number, a text or a boolean, or leave out "indexed".',
);

function misplacedConstraints(
  type: AttributeShape['type'],
  constraints: AttributeConstraints,
): FieldProblem[] {
  return SPECIAL.filter((name) => constraints[name] !== undefined && !FITTING[type].includes(name)).map(
    (name) =>
      contradiction(`/constraints/${name}`, `The constraint "${name}" does not fit the type ${type}.`),
  );
}

function boundsProblems(type: AttributeShape['type'], { min, max }: AttributeConstraints): FieldProblem[] {
  if (min === undefined || max === undefined) return [];
  if (min > max) return [contradiction('/constraints/min', 'The constraint "min" is greater than "max".')];
  const isEmpty = type === 'integer' && Math.ceil(min) > Math.floor(max);
  return isEmpty ? [contradiction('/constraints/min', 'No whole number lies between "min" and "max".')] : [];
}

function textProblems(
  { enum: allowed, pattern }: AttributeConstraints,
  compile: PatternCompiler,
): FieldProblem[] {
  if (allowed?.length === 0)
    return [contradiction('/constraints/enum', 'The enum must have at least one value.')];
  if (pattern === undefined) return [];
  const compiled = compile(pattern);
  if (!compiled.ok) return [fieldProblem('/constraints/pattern', 'invalid_pattern', compiled.reason)];
  const work = { left: PATTERN_WORK };
  if (allowed === undefined || allowed.some((text) => testWithin(compiled.pattern, text, work) !== false))
    return [];
  return [contradiction('/constraints/pattern', 'No value of the enum matches the pattern.')];
}

function defaultProblems(attribute: AttributeShape, compile: PatternCompiler): FieldProblem[] {
  const value = attribute.defaultValue ?? null;
  const problem =
    value === null ? undefined : compileAttribute(attribute, compile).check(value, { left: PATTERN_WORK });
  return problem === undefined
    ? []
    : [contradiction('/defaultValue', `The default ${problem.message}${foundText(value, true)}`)];
}

const contradiction = (pointer: string, message: string): FieldProblem =>
  fieldProblem(pointer, 'contradictory_attribute', message);
