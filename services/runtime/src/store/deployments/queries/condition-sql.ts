import type { Comparison, Condition, TestForm, TestOperand } from '@orrery/expressions';
import { type RawBuilder, sql } from 'kysely';

type Test = RawBuilder<boolean>;

/** A condition in two: what PostgreSQL decides as the evaluator would, and what only the evaluator decides. */
export interface SplitCondition {
  /** True of exactly the instances that satisfy the parts it is made of; over `i.state` and `i.instance_id`. */
  readonly exact: Test;
  /** An instance satisfies the condition if it satisfies `exact` and all of these. */
  readonly rest: readonly Condition[];
}

/** Every part of a condition is true or false, so those that `&&` joins can be decided apart. */
export function splitCondition(condition: Condition | undefined): SplitCondition {
  const parts = condition === undefined ? [] : conjuncts(condition);
  const exact = parts.map(testOf);
  return {
    exact: joined(
      exact.filter((test) => test !== undefined),
      'and',
    ),
    rest: parts.filter((_, at) => exact[at] === undefined),
  };
}

/** The parts that `&&` joins. */
export const conjuncts = (condition: Condition): Condition[] =>
  condition.kind === 'and' ? condition.parts.flatMap(conjuncts) : [condition];

function joined(tests: readonly Test[], by: 'and' | 'or'): Test {
  if (tests.length === 0) return by === 'and' ? sql`true` : sql`false`;
  return sql`(${sql.join(tests, sql.raw(` ${by} `))})`;
}

/** The whole condition in SQL; undefined unless each of its tests can be made exactly. Never null. */
function testOf(condition: Condition): Test | undefined {
  if (condition.kind === 'test') return condition.form && orFalse(formSql(condition.form));
  const parts = (condition.kind === 'not' ? [condition.part] : condition.parts).map(testOf);
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length) return undefined;
  return condition.kind === 'not' ? sql`not ${joined(known, 'and')}` : joined(known, condition.kind);
}

const orFalse = (test: Test): Test => sql`coalesce(${test}, false)`;

function formSql(form: TestForm): Test {
  switch (form.op) {
    case 'in':
      return containsSql(jsonOf(form.right), form.left);
    case 'one-of':
      return joined(
        form.values.map((value) => sql`${jsonOf(form.left)} = ${jsonOf(value)}`),
        'or',
      );
    case 'has':
      return hasSql(form.keys);
    case 'is':
      return sql`${jsonOf(form.operand)} = 'true'::jsonb`;
    case 'startsWith':
      return sql`starts_with(${textOf(form.text)}, ${form.part}::text)`;
    case 'endsWith':
      return sql`right(${textOf(form.text)}, length(${form.part}::text)) = ${form.part}::text collate "C"`;
    case 'contains':
      return sql`position(${form.part}::text in ${textOf(form.text)}) > 0`;
    default:
      return comparisonSql(form.op, form.left, form.right);
  }
}

/** The value at a path of the state; SQL null where nothing is there. */
export const valueSql = (keys: readonly string[]): RawBuilder<unknown> =>
  keys.reduce<RawBuilder<unknown>>((value, key) => sql`${value} -> ${key}::text`, sql`i.state`);

function jsonOf(operand: TestOperand): RawBuilder<unknown> {
  if (operand.kind === 'id') return sql`to_jsonb(i.instance_id)`;
  if (operand.kind === 'path') return sql`(${valueSql(operand.keys)})`;
  return sql`${JSON.stringify(operand.value)}::jsonb`;
}

/** The text that an operand is; SQL null where it is none. */
function textOf(operand: TestOperand): RawBuilder<string | null> {
  if (operand.kind === 'id') return sql`(i.instance_id collate "C")`;
  if (operand.kind === 'value')
    return sql`(${typeof operand.value === 'string' ? operand.value : null}::text collate "C")`;
  const value = jsonOf(operand);
  return sql`(case jsonb_typeof(${value}) when 'string' then ${value} #>> '{}' end collate "C")`;
}

export const OPERATORS: Readonly<Record<Comparison, string>> = {
  '==': '=',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

/**
 * jsonb compares values of any kinds for equality as CEL does. Its numbers are decimals, the shortest of each double, so
 * they stand in the order of the doubles; its order of texts is that of a locale, so texts compare by their bytes.
 */
function comparisonSql(op: Comparison, left: TestOperand, right: TestOperand): Test {
  const operator = sql.raw(OPERATORS[op]);
  const [a, b] = [jsonOf(left), jsonOf(right)];
  if (op === '==' || op === '!=') return sql`${a} ${operator} ${b}`;
  const value = left.kind === 'value' ? left.value : right.kind === 'value' ? right.value : undefined;
  const kind = value === undefined ? undefined : typeof value;
  const asText = sql<boolean>`${textOf(left)} ${operator} ${textOf(right)}`;
  if (kind === 'string' || left.kind === 'id' || right.kind === 'id') return asText;
  const other = left.kind === 'value' ? b : a;
  if (kind === 'number' || kind === 'boolean')
    return sql`(jsonb_typeof(${other}) = ${kind}::text and jsonb_typeof(${left.kind === 'value' ? a : b}) = ${kind}::text and ${a} ${operator} ${b})`;
  if (kind !== undefined) return sql`false`;
  return sql`case when jsonb_typeof(${a}) is distinct from jsonb_typeof(${b}) then false
    when jsonb_typeof(${a}) in ('number', 'boolean') then ${a} ${operator} ${b}
    when jsonb_typeof(${a}) = 'string' then ${asText} else false end`;
}

/** An element of a list, or a key of an object; a number stands for its digits there. */
function containsSql(container: RawBuilder<unknown>, item: TestOperand): Test {
  const value = item.kind === 'value' ? item.value : null;
  const isKey = typeof value === 'string' || typeof value === 'number';
  const asKey = isKey ? sql`${container} ? ${String(value)}::text` : sql`false`;
  return sql`case jsonb_typeof(${container}) when 'array' then ${container} @> ${JSON.stringify([value])}::jsonb
    when 'object' then ${asKey} else false end`;
}

function hasSql(keys: readonly string[]): Test {
  const holder = sql`(${valueSql(keys.slice(0, -1))})`;
  return sql`jsonb_typeof(${holder}) = 'object' and ${holder} ? ${keys.at(-1) ?? ''}::text`;
}
