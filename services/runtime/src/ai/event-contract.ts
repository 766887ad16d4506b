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

/** What an event may do, as a model is shown it. */
export function eventContract(definition: VersionDefinition): JsonObject {
  const { event, guards } = definition;
  return {
    event,
    mayChange: Object.fromEntries(
      changeableSchemas(definition).map(({ name, mode, attributes }) => [
        name,
        { mode, attributes: attributes.map(described) },
      ]),
    ),
    mayCreate: guards?.create !== false,
    mayDelete: guards?.delete === true,
    ...(guards?.maxInstances === undefined ? {} : { maxChangedInstances: guards.maxInstances }),
    ...(guards?.maxDelta === undefined ? {} : { maxDelta: guards.maxDelta }),
    ...(guards?.deny === undefined ? {} : { attributesNotToChange: guards.deny }),
    result: resultSchema(definition) ?? 'any JSON object, or null',
  };
}

/** An absent member of the constraints is absent here. */
const described = ({ name, type, constraints, defaultValue }: AttributeDefinition): JsonObject => ({
  name,
  type,
  ...(constraints as JsonObject | null),
  ...(defaultValue === null ? {} : { default: defaultValue }),
});
