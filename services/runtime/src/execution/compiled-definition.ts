import {
  type FieldProblem,
  type JsonObject,
  type JsonValue,
  ServiceError,
  type VersionDefinition,
} from '@orrery/contracts';
import {
  type CompiledTemplate,
  checkAgainst,
  compileContract,
  compileTemplate,
  DIRECT_TEMPLATE_NAMES,
} from '@orrery/expressions';
import { type CompiledSchema, compileSchema } from './compiled-schema.js';

/** A version ready to run; holds nothing that a run changes, so it is kept as long as its `definition.hash` holds. */
export interface CompiledDefinition {
  readonly definition: VersionDefinition;
  /** What makes its mutation; `none`: it saves and binds, and cannot run. */
  readonly mutation: 'direct' | 'ai' | 'none';
  readonly template: CompiledTemplate | null;
  problemsOfInput(input: JsonObject): FieldProblem[];
  problemsOfResult(result: JsonObject | null): FieldProblem[];
  /** A schema of the version. Throws `unknown_entity_schema`. */
  schemaNamed(name: string): CompiledSchema;
}

/** Throws `invalid_template` or `validation_failed` for what no catalog would have saved. */
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
    problemsOfResult: (result) => problemsOfResult(result ?? {}),
    schemaNamed: (name) => {
      const schema = schemas.get(name);
      if (schema !== undefined) return schema;
      throw new ServiceError('unknown_entity_schema', `there is no entity schema "${name}"`);
    },
  };
}

/** Without settings a version with a prompt runs as `ai` (decisions §3). */
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

function contractCheck(schema: JsonObject | null, what: string): (value: JsonValue) => FieldProblem[] {
  if (schema === null) return () => [];
  const compiled = compileContract(schema);
  if (compiled.ok) return (value) => checkAgainst(compiled.contract, value);
  throw new ServiceError('validation_failed', `${what} cannot be used`, { errors: compiled.problems });
}
