import type { JsonObject, JsonValue } from '@orrery/contracts';
import type { Survey } from './survey-schema.js';
import type { Check } from './validation.js';

/** What compiling one document knows. */
export interface SchemaContext {
  readonly survey: Survey;
  /** Checks by schema object, so that a schema referred to often, or by itself, is compiled once. */
  readonly compiled: Map<JsonObject, { check: Check }>;
  compile(schema: JsonValue, context: SchemaContext): Check;
}

/** Compiles what one keyword (or a group that belongs together) asks for; undefined when the schema has none of it. */
export type KeywordCompiler = (schema: JsonObject, context: SchemaContext) => Check | undefined;
