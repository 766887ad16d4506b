import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { undeclaredBeside } from './objects.js';
import type { SchemaContext } from './validation.js';
import { addSeen, type Check, descend, keysOf, spendOn, type Validation } from './validation.js';

/**
 * `unevaluatedProperties` and `unevaluatedItems`: what no other keyword of this schema, nor of those applied to the
 * same value, has evaluated. Wraps the schema's other checks, to watch what they evaluate.
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
    addSeen(run, seen, outer);
    return ok;
  };
}

function restCheck(schema: JsonValue | undefined, context: SchemaContext): Check | undefined {
  if (schema === undefined) return undefined;
  return schema === false ? undeclaredBeside([]) : context.compile(schema, context);
}

interface RestChecks {
  keys: Check | undefined;
  items: Check | undefined;
}

/** Finding out whether a key or index was evaluated. */
const PART_COST = 3;

function checkRest(
  value: JsonValue,
  { keys, items }: RestChecks,
  seen: Set<string | number>,
  run: Validation,
) {
  if (Array.isArray(value)) {
    if (items !== undefined) spendOn(run, value.length * PART_COST);
    return items === undefined || checkParts(value.entries(), items, seen, run);
  }
  if (keys === undefined || !isJsonObject(value)) return true;
  const names = keysOf(run, value);
  spendOn(run, names.length * PART_COST);
  return checkParts(
    names.map((name) => [name, value[name] ?? null]),
    keys,
    seen,
    run,
  );
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
