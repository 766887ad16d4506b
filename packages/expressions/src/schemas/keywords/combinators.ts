import type { JsonValue } from '@orrery/contracts';
import { resolveReference } from '../survey/references.js';
import type { KeywordCompiler, SchemaContext } from './validation.js';
import { type Check, fitsQuietly, report, type Validation } from './validation.js';

const compileAll = (schemas: JsonValue | undefined, context: SchemaContext): Check[] | undefined =>
  Array.isArray(schemas) ? schemas.map((schema) => context.compile(schema, context)) : undefined;

const reference: KeywordCompiler = ({ $ref }, context) => {
  if (typeof $ref !== 'string') return undefined;
  const pointer = resolveReference($ref, context.survey);
  return context.compile(context.survey.schemas.get(pointer ?? '') ?? false, context);
};

const allOf: KeywordCompiler = ({ allOf: schemas }, context) => {
  const checks = compileAll(schemas, context);
  return checks && ((value, run) => everyCheck(checks, value, run));
};

function everyCheck(checks: readonly Check[], value: JsonValue, run: Validation): boolean {
  let ok = true;
  for (const check of checks) {
    if (!check(value, run)) ok = false;
    if (!ok && run.problems === null) break;
  }
  return ok;
}

/** All branches are tried where an `unevaluated…` keyword needs the keys that they evaluated. */
const anyOf: KeywordCompiler = ({ anyOf: schemas }, context) => {
  const checks = compileAll(schemas, context);
  if (checks === undefined) return undefined;
  return (value, run) => {
    const fits = (check: Check): boolean => fitsQuietly(run, value, check);
    const ok = run.seen === undefined ? checks.some(fits) : checks.filter(fits).length > 0;
    return ok || report(run, 'no_match', 'The value matches none of the alternatives (anyOf).');
  };
};

const oneOf: KeywordCompiler = ({ oneOf: schemas }, context) => {
  const checks = compileAll(schemas, context);
  if (checks === undefined) return undefined;
  return (value, run) => {
    const found = checks.filter((check) => fitsQuietly(run, value, check)).length;
    return (
      found === 1 ||
      report(
        run,
        'no_match',
        `The value matches ${found} of the alternatives (oneOf) in place of exactly one.`,
      )
    );
  };
};

const not: KeywordCompiler = ({ not: schema }, context) => {
  if (schema === undefined) return undefined;
  const check = context.compile(schema, context);
  return (value, run) => {
    const { seen } = run;
    run.seen = undefined;
    const ok = !fitsQuietly(run, value, check);
    run.seen = seen;
    return ok || report(run, 'not_allowed', 'The value matches what is excluded (not).');
  };
};

const condition: KeywordCompiler = ({ if: test, then: yes = true, else: no = true }, context) => {
  if (test === undefined) return undefined;
  const [check, onTrue, onFalse] = [test, yes, no].map((schema) => context.compile(schema, context)) as [
    Check,
    Check,
    Check,
  ];
  return (value, run) => (fitsQuietly(run, value, check) ? onTrue(value, run) : onFalse(value, run));
};

export const combinators: readonly KeywordCompiler[] = [reference, allOf, anyOf, oneOf, not, condition];
