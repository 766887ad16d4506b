import {
  type Comparison,
  type Condition,
  orderValue,
  type TestForm,
  type TestOperand,
} from '@orrery/expressions';
import { type RawBuilder, sql } from 'kysely';
import { indexedValue, MISSING } from '../../../core/queries/indexed-value.js';
import type { AttributeIndex } from '../../state/attribute-indexes.js';
import { conjuncts, OPERATORS } from './condition-sql.js';

type Test = RawBuilder<boolean>;

/** Which rows `o` of an index can belong to instances that satisfy a condition: others do not, and these need not. */
export interface IndexRange {
  readonly index: AttributeIndex;
  readonly range: Test;
}

/** Of each index that the condition compares with constants. */
export function rangesOf(condition: Condition | undefined, indexes: readonly AttributeIndex[]): IndexRange[] {
  const parts = condition === undefined || indexes.length === 0 ? [] : conjuncts(condition);
  return indexes.flatMap((index) => {
    const tests = parts.flatMap((part) => rangeOf(part, index.attribute) ?? []);
    return tests.length === 0 ? [] : { index, range: sql<boolean>`(${sql.join(tests, sql` and `)})` };
  });
}

const MIRRORED: Readonly<Record<Comparison, Comparison>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function rangeOf(condition: Condition, attribute: string): Test | undefined {
  if (condition.kind !== 'test' || condition.form === undefined) return undefined;
  const { form } = condition;
  if (!isComparison(form) || form.op === '!=') return undefined;
  const { op, left, right } = form;
  if (isOf(left, attribute) && right.kind === 'value') return rowsWith(op, right.value);
  return isOf(right, attribute) && left.kind === 'value' ? rowsWith(MIRRORED[op], left.value) : undefined;
}

const isComparison = (form: TestForm): form is Extract<TestForm, { op: Comparison }> => form.op in MIRRORED;

const isOf = (operand: TestOperand, attribute: string): boolean =>
  operand.kind === 'path' && operand.keys.length === 1 && operand.keys[0] === attribute;

/** Of a text the index has the beginning: texts that differ only behind it are neighbours. */
function rowsWith(op: Comparison, given: string | number | boolean | null): Test | undefined {
  if (given === null) return op === '==' ? sql`o.kind = ${MISSING_KIND}` : undefined;
  const { kind, number, text } = indexedValue(orderValue(given));
  const ofKind = sql<boolean>`o.kind = ${sql.lit(kind)}`;
  if (typeof given === 'string')
    return sql`${ofKind} and o.number = 0 and o.text ${sql.raw(INCLUSIVE[op])} ${text}::text`;
  return sql`${ofKind} and o.number ${sql.raw(OPERATORS[op])} ${number}::float8`;
}

/** Null is missing to an order, as are lists and objects. */
const MISSING_KIND = sql.lit(MISSING);
const INCLUSIVE: Readonly<Record<Comparison, string>> = { ...OPERATORS, '<': '<=', '>': '>=' };
