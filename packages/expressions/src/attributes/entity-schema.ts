import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  type JsonObject,
  MAX_PROBLEMS,
} from '@orrery/contracts';
import { PATTERN_WORK, type PatternWork } from '../patterns/pattern.js';
import { foundText } from '../schemas/keywords/validation.js';
import { type AttributeShape, type CompiledAttribute, compileAttribute } from './attribute.js';

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
