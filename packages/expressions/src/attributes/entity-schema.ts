import { childPointer, type FieldProblem, fieldProblem, type JsonObject } from '@orrery/contracts';
import { type PatternWork, patternWork } from '../patterns/pattern-work.js';
import type { AttributeShape } from './check-attribute.js';
import { type CompiledAttribute, compileAttribute } from './compile-attribute.js';

/** An entity schema's attributes, ready to check states; kept by its hash. */
export interface CompiledEntitySchema {
  readonly attributes: readonly CompiledAttribute[];
  readonly withDefault: readonly CompiledAttribute[];
}

export function compileEntitySchema(attributes: readonly AttributeShape[]): CompiledEntitySchema {
  const compiled = attributes.map(compileAttribute);
  return { attributes: compiled, withDefault: compiled.filter(({ defaultValue }) => defaultValue !== null) };
}

/**
 * Fills in the defaults of absent attributes (null is present). Answers the state itself when nothing is missing, else
 * a copy; it never changes what it is given.
 */
export function applyDefaults({ withDefault }: CompiledEntitySchema, state: JsonObject): JsonObject {
  const missing = withDefault.filter(({ name }) => !Object.hasOwn(state, name));
  if (missing.length === 0) return state;
  const defaults = missing.map(({ name, defaultValue }) => [name, structuredClone(defaultValue)] as const);
  return { ...state, ...Object.fromEntries(defaults) };
}

const MAX_PROBLEMS = 20;

/**
 * What a state breaks, after defaults: pointers are into the state. Null is allowed for any attribute that is not
 * required, whatever its type; attributes that the schema does not name may hold anything.
 */
export function checkState({ attributes }: CompiledEntitySchema, state: JsonObject): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const work = patternWork();
  for (const attribute of attributes) {
    const problem = checkAttribute(attribute, state, work);
    if (problem !== undefined) problems.push(problem);
    if (problems.length >= MAX_PROBLEMS) break;
  }
  return problems;
}

function checkAttribute(
  { name, required, check }: CompiledAttribute,
  state: JsonObject,
  work: PatternWork,
): FieldProblem | undefined {
  const value = Object.hasOwn(state, name) ? state[name] : undefined;
  if (value === undefined || value === null)
    return required ? fieldProblem(childPointer('', name), 'required', `"${name}" is required`) : undefined;
  const misfit = check(value, work);
  return misfit && fieldProblem(childPointer('', name), misfit.code, `"${name}" ${misfit.message}`);
}
