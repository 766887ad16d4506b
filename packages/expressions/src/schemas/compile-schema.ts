import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { combinators } from './keywords/combinators.js';
import { lists } from './keywords/lists.js';
import { objects } from './keywords/objects.js';
import { scalars } from './keywords/scalars.js';
import { compileUnevaluated } from './keywords/unevaluated.js';
import type { KeywordCompiler, SchemaContext } from './keywords/validation.js';
import { type Check, inSequence, report } from './keywords/validation.js';
import type { Survey } from './survey/survey-schema.js';

/**
 * JSON Schema 2020-12 compiled to closures, from a surveyed document. ajv is not used because any account can write
 * schemas and ajv has no budget: small schemas keep the thread busy for seconds (docs/adr/0006).
 */
export function compileSchema(root: JsonValue, survey: Survey): Check {
  return compile(root, { survey, compiled: new Map(), compile });
}

const keywords: readonly KeywordCompiler[] = [...scalars, ...lists, ...objects, ...combinators];

function compile(schema: JsonValue, context: SchemaContext): Check {
  if (!isJsonObject(schema)) return schema === false ? nothing : anything;
  const known = context.compiled.get(schema);
  if (known !== undefined) return (value, run) => known.check(value, run);
  const entry = { check: anything };
  context.compiled.set(schema, entry);
  entry.check = compileObject(schema, context);
  return entry.check;
}

const anything: Check = () => true;
const nothing: Check = (_, run) => report(run, 'not_allowed', 'Nothing is allowed here.');

function compileObject(schema: JsonObject, context: SchemaContext): Check {
  const checks = keywords.map((keyword) => keyword(schema, context)).filter((check) => check !== undefined);
  const unevaluated = compileUnevaluated(schema, context);
  return unevaluated === undefined ? inSequence(checks) : unevaluated(inSequence(checks));
}
