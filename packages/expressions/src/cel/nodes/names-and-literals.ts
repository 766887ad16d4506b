import { type CompileContext, fault } from '../compile-context.js';
import { type Expression, fail } from '../frame.js';
import { CelType, TYPE_NAMES } from '../values/cel-type.js';
import { BeyondJson, type CelValue, wordFor } from '../values/cel-value.js';
import { checkedInt, isInt64 } from '../values/numbers.js';
import type { NodeOf } from './binary.js';

/** A literal. `uint` and `bytes` have no place in JSON and are refused. */
export function compileValue(node: NodeOf<'value'>): Expression {
  const value = node.args;
  if (typeof value === 'object' && value !== null)
    return fault('unsupported', 'unsigned integers (1u) and bytes (b"…") are not supported', node);
  if (typeof value === 'bigint' && !isInt64(value))
    return fault('template_syntax', 'the whole number does not fit 64 bits', node);
  return () => value;
}

/** A macro's variable, a declared name, or a type. */
export function compileName(node: NodeOf<'id'>, context: CompileContext): Expression {
  const name = node.args;
  const slot = context.locals.lastIndexOf(name);
  if (slot >= 0) return (frame) => frame.locals[slot] ?? null;
  if (context.names.has(name)) return readName(name);
  if (!TYPE_NAMES.has(name)) return fault('unknown_name', unknownName(name, context), node);
  const type = new CelType(name);
  return () => type;
}

function readName(name: string): Expression {
  return ({ scope }) => {
    const value = Object.hasOwn(scope, name) ? scope[name] : undefined;
    if (value === undefined) return fail(`"${name}" has no value here`);
    return value as CelValue;
  };
}

const unknownName = (name: string, { names, locals }: CompileContext): string =>
  `unknown name "${name}"; known here: ${[...locals, ...names].join(', ')}`;

/** `-x`; the smallest int is written `-9223372036854775808`, whose digits alone would not fit. */
export function compileNegation(node: NodeOf<'-_'>, context: CompileContext): Expression {
  const operand = node.args;
  if (operand.op === 'value' && typeof operand.args === 'bigint' && isInt64(-operand.args)) {
    const value = -operand.args;
    return () => value;
  }
  const read = context.compile(operand, context);
  return (frame) => negate(read(frame));
}

function negate(value: CelValue): CelValue {
  if (typeof value === 'number') return -value;
  if (typeof value === 'bigint') return checkedInt(-value);
  return fail(`cannot negate ${value instanceof BeyondJson ? value.kind : wordFor(value)}`);
}
