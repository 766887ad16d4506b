import type { JsonObject, JsonValue } from '@orrery/contracts';
import type { Check, KeywordCompiler, SchemaContext, Validation } from './validation.js';
import { undeclaredBeside } from './values.js';

const compileAll = (schemas: JsonValue | undefined, context: SchemaContext): Check[] | undefined =>
  Array.isArray(schemas) ? schemas.map((schema) => context.compile(schema)) : undefined;

const reference: KeywordCompiler = ({ $ref }, context) => {
  if (typeof $ref !== 'string') return undefined;
  return context.compile(context.survey.referred($ref) ?? false);
};

const allOf: KeywordCompiler = ({ allOf: schemas }, context) => {
  const checks = compileAll(schemas, context);
  return checks && ((value, run) => run.every(checks, (check) => check(value, run)));
};

/** All branches are tried where an `unevaluated…` keyword needs the keys that they evaluated. */
const anyOf: KeywordCompiler = ({ anyOf: schemas }, context) => {
  const checks = compileAll(schemas, context);
  if (checks === undefined) return undefined;
  return (value, run) => {
    const fits = (check: Check): boolean => run.fitsQuietly(value, check);
    const ok = run.seen === undefined ? checks.some(fits) : checks.filter(fits).length > 0;
    return ok || run.report('no_match', 'The value matches none of the alternatives (anyOf).');
  };
};

const oneOf: KeywordCompiler = ({ oneOf: schemas }, context) => {
  const checks = compileAll(schemas, context);
  if (checks === undefined) return undefined;
  return (value, run) => {
    const found = checks.filter((check) => run.fitsQuietly(value, check)).length;
    return (
      found === 1 ||
      run.report(
        'no_match',
        `The value matches ${found} of the alternatives (oneOf) in place of exactly one.`,
      )
    );
  };
};

const not: KeywordCompiler = ({ not: schema }, context) => {
  if (schema === undefined) return undefined;
  const check = context.compile(schema);
  return (value, run) => {
    const { seen } = run;
    run.seen = undefined;
    const ok = !run.fitsQuietly(value, check);
    run.seen = seen;
    return ok || run.report('not_allowed', 'The value matches what is excluded (not).');
  };
};

const condition: KeywordCompiler = ({ if: test, then: yes = true, else: no = true }, context) => {
  if (test === undefined) return undefined;
  const [check, onTrue, onFalse] = [test, yes, no].map((schema) => context.compile(schema)) as [
    Check,
    Check,
    Check,
  ];
  return (value, run) => (run.fitsQuietly(value, check) ? onTrue(value, run) : onFalse(value, run));
};

export const combinators: readonly KeywordCompiler[] = [reference, allOf, anyOf, oneOf, not, condition];

/**
 * `unevaluatedProperties` and `unevaluatedItems`: what no other keyword of this schema, nor of those applied to the
 * same value, has evaluated. Watches what the schema's other checks evaluate.
 */
export function withUnevaluated(others: Check, schema: JsonObject, context: SchemaContext): Check {
  const keys = restCheck(schema['unevaluatedProperties'], context);
  const items = restCheck(schema['unevaluatedItems'], context);
  if (keys === undefined && items === undefined) return others;
  return (value, run) => {
    const outer = run.seen;
    const seen = new Set<string | number>();
    run.seen = seen;
    const rest: Check = () => checkRest(value, { keys, items }, seen, run);
    const ok = run.every([others, rest], (check) => check(value, run));
    run.seen = outer;
    run.addSeen(seen, outer);
    return ok;
  };
}

function restCheck(schema: JsonValue | undefined, context: SchemaContext): Check | undefined {
  if (schema === undefined) return undefined;
  return schema === false ? undeclaredBeside([]) : context.compile(schema);
}

/** Finding out whether a key or index was evaluated. */
const PART_COST = 3;

function checkRest(
  value: JsonValue,
  { keys, items }: { keys: Check | undefined; items: Check | undefined },
  seen: ReadonlySet<string | number>,
  run: Validation,
): boolean {
  const check = Array.isArray(value) ? items : keys;
  if (check === undefined || typeof value !== 'object' || value === null) return true;
  const parts: [string | number, JsonValue][] = Array.isArray(value)
    ? [...value.entries()]
    : run.keysOf(value).map((name) => [name, value[name] ?? null]);
  run.spend(parts.length * PART_COST);
  return run.every(parts, ([key, part]) => seen.has(key) || run.descend(key, part, check));
}
