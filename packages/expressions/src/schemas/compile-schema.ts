import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { CONTRACT_LIMITS } from './contract-limits.js';
import { combinators } from './keywords/combinators.js';
import { lists } from './keywords/lists.js';
import { numbers } from './keywords/numbers.js';
import { objects } from './keywords/objects.js';
import { texts } from './keywords/texts.js';
import { compileUnevaluated } from './keywords/unevaluated.js';
import { values } from './keywords/values.js';
import type { KeywordCompiler, SchemaContext } from './schema-context.js';
import type { Survey } from './survey-schema.js';
import { type Check, report, spendOn, TooMuchWork, type Validation } from './validation.js';

/**
 * JSON Schema 2020-12 compiled to closures, from a surveyed document. Ours and not ajv, because schemas come from
 * strangers: ajv has no budget, so small schemas (references that double at each level, `uniqueItems` over objects)
 * keep the thread busy for seconds and more; it also generates code for each schema.
 */
export function compileSchema(root: JsonValue, survey: Survey): Check {
  return compile(root, { survey, compiled: new Map(), compile });
}

const keywords: readonly KeywordCompiler[] = [
  ...values,
  ...numbers,
  ...texts,
  ...lists,
  ...objects,
  ...combinators,
];

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
const nothing: Check = (_, run) => report(run, 'not_allowed', 'nothing is allowed here');

function compileObject(schema: JsonObject, context: SchemaContext): Check {
  const checks = keywords.map((keyword) => keyword(schema, context)).filter((check) => check !== undefined);
  const unevaluated = compileUnevaluated(schema, context);
  return unevaluated === undefined ? inSequence(checks) : unevaluated(inSequence(checks));
}

function inSequence(checks: readonly Check[]): Check {
  const cost = 1 + checks.length;
  return (value, run) => {
    enter(run, cost);
    let ok = true;
    for (const check of checks) {
      if (!check(value, run)) ok = false;
      if (!ok && run.problems === null) break;
    }
    run.depth -= 1;
    return ok;
  };
}

function enter(run: Validation, cost: number): void {
  spendOn(run, cost);
  run.depth += 1;
  if (run.depth > CONTRACT_LIMITS.depth) throw new TooMuchWork();
}
