import type { JsonObject, JsonValue } from '@orrery/contracts';
import type { Survey } from './survey-schema.js';
import type { Check } from './validation.js';

/** Context of compiling one document. */
export interface SchemaContext {
  readonly survey: Survey;
  /** Checks by schema object, so that a schema referred to often, or by itself, is compiled once. */
  readonly compiled: Map<JsonObject, { check: Check }>;
  compile(schema: JsonValue, context: SchemaContext): Check;
}

/** Compiles one keyword, or a group of related ones; undefined when the schema has none of them. */
export type KeywordCompiler = (schema: JsonObject, context: SchemaContext) => Check | undefined;
