import type { AttributeDefinition, ChangeMode, JsonObject, VersionDefinition } from '@orrery/contracts';
import { compileContract, toJsonSchema } from '@orrery/expressions';

/** A schema whose instances an event may change. */
export interface ChangeableSchema {
  readonly name: string;
  readonly mode: ChangeMode;
  readonly attributes: readonly AttributeDefinition[];
}

/** The schemas that a model may change, by name: those of the mode map, or all of the version, each `partial`. */
export function changeableSchemas(definition: VersionDefinition): ChangeableSchema[] {
  const { schemas, stateChanges } = definition;
  const names = Object.keys(stateChanges ?? schemas).filter((name) => Object.hasOwn(schemas, name));
  return names.sort().map((name) => ({
    name,
    mode: stateChanges?.[name] ?? 'partial',
    attributes: schemas[name]?.attributes ?? [],
  }));
}

/** The result's contract as JSON Schema; null: the result is any object, or null. */
export function resultSchema({ outputSchema }: VersionDefinition): JsonObject | null {
  if (outputSchema === null) return null;
  const compiled = compileContract(outputSchema);
  return compiled.ok ? toJsonSchema(compiled.contract) : null;
}
