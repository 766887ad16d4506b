import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import type { SchemaContext } from '../schema-context.js';
import { type Check, descend, report, type Validation } from '../validation.js';

/**
 * `unevaluatedProperties` and `unevaluatedItems`: what no other keyword of this schema, nor of those applied to the
 * same value, has looked at. Wraps the schema's other checks, to watch what they look at.
 */
export function compileUnevaluated(
  schema: JsonObject,
  context: SchemaContext,
): ((others: Check) => Check) | undefined {
  const keys = restCheck(schema['unevaluatedProperties'], context);
  const items = restCheck(schema['unevaluatedItems'], context);
  if (keys === undefined && items === undefined) return undefined;
  return (others) => (value, run) => {
    const outer = run.seen;
    const seen = new Set<string | number>();
    run.seen = seen;
    let ok = others(value, run);
    if (ok || run.problems !== null) ok = checkRest(value, { keys, items }, seen, run) && ok;
    run.seen = outer;
    if (outer !== undefined) for (const key of seen) outer.add(key);
    return ok;
  };
}

const undeclared: Check = (_, run) => report(run, 'undeclared', 'The field is not declared.');

function restCheck(schema: JsonValue | undefined, context: SchemaContext): Check | undefined {
  if (schema === undefined) return undefined;
  return schema === false ? undeclared : context.compile(schema, context);
}

interface RestChecks {
  keys: Check | undefined;
  items: Check | undefined;
}

function checkRest(
  value: JsonValue,
  { keys, items }: RestChecks,
  seen: Set<string | number>,
  run: Validation,
) {
  if (Array.isArray(value)) return items === undefined || checkParts(value.entries(), items, seen, run);
  return keys === undefined || !isJsonObject(value) || checkParts(Object.entries(value), keys, seen, run);
}

function checkParts(
  parts: Iterable<[string | number, JsonValue]>,
  check: Check,
  seen: ReadonlySet<string | number>,
  run: Validation,
): boolean {
  let ok = true;
  for (const [key, part] of parts) {
    if (!seen.has(key) && !descend(run, key, part, check)) ok = false;
    if (!ok && run.problems === null) break;
  }
  return ok;
}
