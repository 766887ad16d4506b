import type { ASTNode } from '@marcbachmann/cel-js';
import { isBeyondNfcBudget, isCleanText, toNfc } from '@orrery/contracts';
import { writtenKey } from '../cel/nodes/reading.js';

/** What a test compares: the instanceId, a value in the state, or a constant. */
export type TestOperand =
  | { readonly kind: 'id' }
  /** Keys from the state on, at least one; each is in NFC. */
  | { readonly kind: 'path'; readonly keys: readonly string[] }
  | { readonly kind: 'value'; readonly value: string | number | boolean | null };

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type TextTest = 'contains' | 'startsWith' | 'endsWith';

/** A test as data. */
export type TestForm =
  | { readonly op: Comparison; readonly left: TestOperand; readonly right: TestOperand }
  | { readonly op: 'in'; readonly left: TestOperand; readonly right: TestOperand }
  | { readonly op: 'one-of'; readonly left: TestOperand; readonly values: readonly TestOperand[] }
  | { readonly op: TextTest; readonly text: TestOperand; readonly part: string }
  | { readonly op: 'has'; readonly keys: readonly string[] }
  /** A value that is true or false by itself. */
  | { readonly op: 'is'; readonly operand: TestOperand };

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const TEXT_TESTS: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith']);

/** The test as data, where its meaning does not depend on how the evaluator computes; else undefined. */
export function formOf(node: ASTNode): TestForm | undefined {
  if (COMPARISONS.has(node.op)) return comparison(node as Binary);
  if (node.op === 'in') return membership(node);
  if (node.op === 'rcall') return textTest(node);
  if (node.op === 'call') return presence(node);
  const operand = operandOf(node);
  return operand && { op: 'is', operand };
}

type Binary = Extract<ASTNode, { op: 'in' }>;

function comparison(node: Binary): TestForm | undefined {
  const [left, right] = node.args.map(operandOf);
  return left && right && { op: node.op as never as Comparison, left, right };
}

function membership({ args: [item, container] }: Binary): TestForm | undefined {
  const left = operandOf(item);
  if (left === undefined) return undefined;
  if (container.op === 'list') {
    const values = container.args.map(operandOf);
    return values.every((value) => value?.kind === 'value')
      ? { op: 'one-of', left, values: values as TestOperand[] }
      : undefined;
  }
  const right = operandOf(container);
  const isKey = left.kind === 'value' && (typeof left.value !== 'string' || isNormal(left.value));
  return right?.kind === 'path' && isKey ? { op: 'in', left, right } : undefined;
}

function textTest({
  args: [name, receiver, parts],
}: Extract<ASTNode, { op: 'rcall' }>): TestForm | undefined {
  const text = operandOf(receiver);
  const part = parts.length === 1 && parts[0] ? operandOf(parts[0]) : undefined;
  if (text === undefined || !TEXT_TESTS.has(name)) return undefined;
  if (part?.kind !== 'value' || typeof part.value !== 'string') return undefined;
  return { op: name as TextTest, text, part: part.value };
}

function presence({ args: [name, args] }: Extract<ASTNode, { op: 'call' }>): TestForm | undefined {
  const field = name === 'has' && args.length === 1 && args[0] ? operandOf(args[0]) : undefined;
  return field?.kind === 'path' ? { op: 'has', keys: field.keys } : undefined;
}

function operandOf(node: ASTNode): TestOperand | undefined {
  if (node.op === 'value') return constant(node.args);
  if (node.op === '-_' && node.args.op === 'value') return negated(constant(node.args.args));
  if (node.op === 'id') return node.args === 'id' ? { kind: 'id' } : undefined;
  const keys = keysOf(node);
  return keys && keys.length > 0 ? { kind: 'path', keys } : undefined;
}

/** 64-bit ints that no double stands for compare otherwise than their digits do. */
function constant(value: unknown): TestOperand | undefined {
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? { kind: 'value', value: Number(value) } : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? { kind: 'value', value } : undefined;
  if (typeof value === 'string') return isCleanText(value) ? { kind: 'value', value } : undefined;
  return typeof value === 'boolean' || value === null ? { kind: 'value', value } : undefined;
}

const negated = (operand: TestOperand | undefined): TestOperand | undefined =>
  operand?.kind === 'value' && typeof operand.value === 'number'
    ? { kind: 'value', value: 0 - operand.value }
    : undefined;

/** `instance.a["b"]` → `a`, `b`. A key in another form than NFC may mean one of two keys, a number one of a list. */
function keysOf(node: ASTNode): string[] | undefined {
  if (node.op === 'id') return node.args === 'instance' ? [] : undefined;
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const before = keysOf(node.args[0]);
  const isText = node.op === '.' || (node.args[1].op === 'value' && typeof node.args[1].args === 'string');
  const key = isText ? writtenKey(node) : undefined;
  return before && key !== undefined && isNormal(key) ? [...before, key] : undefined;
}

const isNormal = (key: string): boolean => isCleanText(key) && toNfc(key) === key && !isBeyondNfcBudget(key);
