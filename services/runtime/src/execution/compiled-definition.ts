import {
  type FieldProblem,
  type JsonObject,
  type JsonValue,
  type SchemaDefinition,
  ServiceError,
  type VersionDefinition,
} from '@orrery/contracts';
import {
  applyDefaults,
  type CompiledTemplate,
  checkAgainst,
  checkState,
  compileContract,
  compileEntitySchema,
  compileTemplate,
  DIRECT_TEMPLATE_NAMES,
  type PatternWork,
} from '@orrery/expressions';

/** Whether messages repeat the values found: of a model's answer they do not (docs/ai.md). */
export interface Told {
  readonly showsValues: boolean;
}

/** An entity schema that completes and checks states. */
export interface CompiledSchema {
  readonly definition: SchemaDefinition;
  isRequired(attribute: string): boolean;
  /** Fills in the defaults of absent attributes; the state itself where none is missing. */
  withDefaults(state: JsonObject): JsonObject;
  /** The rules that the state breaks; pointers are into the state. Patterns are charged to `patterns`. */
  problemsOf(state: JsonObject, patterns: PatternWork, told: Told): FieldProblem[];
}

export function compileSchema(definition: SchemaDefinition): CompiledSchema {
  const compiled = compileEntitySchema(definition.attributes);
  const required = new Set(compiled.attributes.filter(({ required }) => required).map(({ name }) => name));
  return {
    definition,
    isRequired: (attribute) => required.has(attribute),
    withDefaults: (state) => applyDefaults(compiled, state),
    problemsOf: (state, patterns, told) => checkState(compiled, state, patterns, told),
  };
}

/** A version ready to execute. Executions do not change it, so it is reused as long as `definition.hash` is the same. */
export interface CompiledDefinition {
  readonly definition: VersionDefinition;
  /** What decides the mutation; `none`: the version can be saved and bound, and not executed. */
  readonly mutation: 'direct' | 'ai' | 'none';
  readonly template: CompiledTemplate | null;
  problemsOfInput(input: JsonObject): FieldProblem[];
  problemsOfResult(result: JsonObject | null, told: Told): FieldProblem[];
  /** A schema of the version. @throws `unknown_entity_schema` */
  schemaNamed(name: string): CompiledSchema;
}

/** @throws `invalid_template`, `validation_failed` for a definition that no catalog would have saved */
export function compileDefinition(definition: VersionDefinition): CompiledDefinition {
  const schemas = new Map(
    Object.entries(definition.schemas).map(([name, schema]) => [name, compileSchema(schema)] as const),
  );
  const problemsOfResult = contractCheck(definition.outputSchema, 'outputSchema');
  return {
    definition,
    mutation: mutationOf(definition),
    template: templateOf(definition),
    problemsOfInput: contractCheck(definition.inputSchema, 'inputSchema'),
    problemsOfResult: (result, told) => problemsOfResult(result ?? {}, told),
    schemaNamed: (name) => {
      const schema = schemas.get(name);
      if (schema !== undefined) return schema;
      throw new ServiceError('unknown_entity_schema', `There is no entity schema "${name}".`);
    },
  };
}

/** Without settings a version with a prompt is decided by a model. */
function mutationOf({ mutationSettings, behaviorPrompt }: VersionDefinition): CompiledDefinition['mutation'] {
  if (mutationSettings !== null) return mutationSettings.mode;
  return behaviorPrompt === null ? 'none' : 'ai';
}

function templateOf({ mutationSettings }: VersionDefinition): CompiledTemplate | null {
  if (mutationSettings?.mode !== 'direct') return null;
  const compiled = compileTemplate(mutationSettings.template ?? {}, {
    names: DIRECT_TEMPLATE_NAMES,
    mutation: true,
  });
  if (compiled.ok) return compiled.template;
  throw new ServiceError('invalid_template', compiled.problems[0]?.message, { errors: compiled.problems });
}

function contractCheck(
  schema: JsonObject | null,
  what: string,
): (value: JsonValue, told?: Told) => FieldProblem[] {
  if (schema === null) return () => [];
  const compiled = compileContract(schema);
  if (compiled.ok) return (value, told) => checkAgainst(compiled.contract, value, told);
  throw new ServiceError('validation_failed', `The ${what} cannot be used.`, { errors: compiled.problems });
}
