import type { FieldProblem, JsonObject, SchemaDefinition } from '@orrery/contracts';
import { applyDefaults, checkState, compileEntitySchema } from '@orrery/expressions';

/** An entity schema ready to complete and check states. */
export interface CompiledSchema {
  readonly definition: SchemaDefinition;
  isRequired(attribute: string): boolean;
  /** Fills in the defaults of absent attributes; the state itself where none is missing. */
  withDefaults(state: JsonObject): JsonObject;
  /** What the state breaks; pointers are into the state. */
  problemsOf(state: JsonObject): FieldProblem[];
}

export function compileSchema(definition: SchemaDefinition): CompiledSchema {
  const compiled = compileEntitySchema(definition.attributes);
  const required = new Set(compiled.attributes.filter(({ required }) => required).map(({ name }) => name));
  return {
    definition,
    isRequired: (attribute) => required.has(attribute),
    withDefaults: (state) => applyDefaults(compiled, state),
    problemsOf: (state) => checkState(compiled, state),
  };
}
